//! HTTP responses in, messages of the protocol out.

use futures::StreamExt as _;
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use sse_stream::SseStream;

use super::body::{bounded_events, read};
use super::{EVENTS, Events, Fault, JSON, SESSION, Wire, kind, status_fault};
use crate::import::short;

/// As much as is read of an answer that only says what went wrong.
const COMPLAINT: usize = 64 << 10;

impl Wire {
    /// Makes of an answer what the protocol makes of it.
    pub(super) async fn answer(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(Fault::SessionExpired);
        }
        if !status.is_success() {
            return self.refused(response, message).await;
        }
        let awaits_nothing = !matches!(message, ClientJsonRpcMessage::Request(_));
        let session = response.headers().get(SESSION);
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        match kind(&response) {
            Some(EVENTS) => Ok(StreamableHttpPostResponse::Sse(
                self.events(response),
                session,
            )),
            _ if awaits_nothing => Ok(StreamableHttpPostResponse::Accepted),
            Some(JSON) => {
                let body = read(response, self.most).await?;
                let answer: ServerJsonRpcMessage =
                    serde_json::from_slice(&body).map_err(|error| garbled(&error, &body))?;
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            other => Err(Fault::UnexpectedContentType(other.map(short))),
        }
    }

    /// Makes of a refusal what the protocol makes of it.
    async fn refused(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let status = response.status();
        let fault = status_fault(&response);
        let overloaded = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        let unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if overloaded || unauthorized {
            return Err(fault);
        }
        let body = read(response, COMPLAINT).await.unwrap_or_default();
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

    pub(super) fn events(&self, response: Response) -> Events {
        let bytes = bounded_events(response.bytes_stream(), self.most);
        SseStream::from_bytes_stream(bytes).boxed()
    }
}

fn garbled(error: &serde_json::Error, body: &[u8]) -> Fault {
    let start = String::from_utf8_lossy(body.get(..120).unwrap_or(body));
    let told = format!(
        "an answer that is no JSON-RPC ({error}): `{}`",
        short(&start)
    );
    Fault::UnexpectedServerResponse(told.into())
}
