//! HTTP responses in, messages of the protocol out.

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

/// As much as is read of an answer that only says what went wrong.
const MAX_ERROR_BYTES: usize = 64 << 10;

impl HttpTransport {
    /// Makes of an answer what the protocol makes of it.
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
        let awaits_nothing = !matches!(message, ClientJsonRpcMessage::Request(_));
        let session = response.headers().get(SESSION_HEADER);
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        match content_type(&response) {
            Some(EVENT_STREAM) => Ok(StreamableHttpPostResponse::Sse(
                self.sse_events(response),
                session,
            )),
            _ if awaits_nothing => Ok(StreamableHttpPostResponse::Accepted),
            Some(JSON) => {
                let body = read_body(response, self.max_bytes).await?;
                let answer: ServerJsonRpcMessage = serde_json::from_slice(&body)
                    .map_err(|error| malformed_response(&error, &body))?;
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            other => Err(StreamableError::UnexpectedContentType(other.map(excerpt))),
        }
    }

    /// Makes of a refusal what the protocol makes of it.
    async fn parse_error_response(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, StreamableError> {
        let status = response.status();
        let fault = status_error(&response);
        let overloaded = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        let unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if overloaded || unauthorized {
            return Err(fault);
        }
        let body = read_body(response, MAX_ERROR_BYTES)
            .await
            .unwrap_or_default();
        let said = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
            _ => None,
        };
        // An older server refuses the question for its revisions in any way it likes; then it is asked in the older way.
        if let ClientJsonRpcMessage::Request(asked) = message
            && matches!(asked.request, ClientRequest::DiscoverRequest(_))
        {
            let error = said.map_or_else(
                || ErrorData::invalid_request(format!("HTTP {status}"), None),
                |said| said.error,
            );
            let answer = ServerJsonRpcMessage::error(error, Some(asked.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(answer, None));
        }
        match said {
            Some(error) => Ok(StreamableHttpPostResponse::Json(
                ServerJsonRpcMessage::Error(error),
                None,
            )),
            None => Err(fault),
        }
    }

    pub(super) fn sse_events(&self, response: Response) -> SseEvents {
        let bytes = bounded_events(response.bytes_stream(), self.max_bytes);
        SseStream::from_bytes_stream(bytes).boxed()
    }
}

fn malformed_response(error: &serde_json::Error, body: &[u8]) -> StreamableError {
    let start = String::from_utf8_lossy(body.get(..120).unwrap_or(body));
    let told = format!(
        "an answer that is no JSON-RPC ({error}): `{}`",
        excerpt(&start)
    );
    StreamableError::UnexpectedServerResponse(told.into())
}
