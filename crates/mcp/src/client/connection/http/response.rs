//! HTTP responses in, JSON-RPC messages out.

use futures::StreamExt as _;
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use sse_stream::SseStream;

use super::body::{bounded_events, read_body};
use super::{
    EVENT_STREAM, HttpTransport, JSON, SESSION_HEADER, SseEvents, StreamableError, content_type,
    status_error,
};
use crate::import::excerpt;

/// The limit for bodies of error responses.
const MAX_ERROR_BYTES: usize = 64 << 10;

impl HttpTransport {
    /// Converts the response to a message.
    pub(super) async fn parse_response(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, StreamableError> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableError::SessionExpired);
        }
        if !status.is_success() {
            return self.parse_error_response(response, message).await;
        }
        let is_notification = !matches!(message, ClientJsonRpcMessage::Request(_));
        let session = response.headers().get(SESSION_HEADER);
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        match content_type(&response) {
            Some(EVENT_STREAM) => {
                Ok(StreamableHttpPostResponse::Sse(self.sse_events(response), session))
            }
            _ if is_notification => Ok(StreamableHttpPostResponse::Accepted),
            Some(JSON) => {
                let body = read_body(response, self.max_bytes).await?;
                let message: ServerJsonRpcMessage = serde_json::from_slice(&body)
                    .map_err(|error| malformed_response(&error, &body))?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            other => Err(StreamableError::UnexpectedContentType(other.map(excerpt))),
        }
    }

    /// Converts a response with an error status: to the JSON-RPC error in its body, if there is one.
    async fn parse_error_response(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, StreamableError> {
        let status = response.status();
        let error = status_error(&response);
        let overloaded =
            matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        let unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if overloaded || unauthorized {
            return Err(error);
        }
        let body = read_body(response, MAX_ERROR_BYTES).await.unwrap_or_default();
        let rpc_error = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
            _ => None,
        };
        // An older server may reject `server/discover` in any way: as a JSON-RPC error, it makes rmcp send `initialize`.
        if let ClientJsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            let error = rpc_error.map_or_else(
                || ErrorData::invalid_request(format!("HTTP {status}"), None),
                |rpc_error| rpc_error.error,
            );
            let message = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
        match rpc_error {
            Some(error) => {
                Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None))
            }
            None => Err(error),
        }
    }

    pub(super) fn sse_events(&self, response: Response) -> SseEvents {
        let bytes = bounded_events(response.bytes_stream(), self.max_bytes);
        SseStream::from_bytes_stream(bytes).boxed()
    }
}

fn malformed_response(error: &serde_json::Error, body: &[u8]) -> StreamableError {
    let start = String::from_utf8_lossy(body.get(..120).unwrap_or(body));
    let message = format!("an answer that is no JSON-RPC ({error}): `{}`", excerpt(&start));
    StreamableError::UnexpectedServerResponse(message.into())
}
