//! Error responses: `{"error": {"kind", "message"}}`. The only file that decides which error has which status.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use toolwright_auth::AccessDenied;
use toolwright_chat::{ChatError, StoreError};
use toolwright_conversation::{ConversationError, ConversationErrorKind};
use toolwright_core::SharedStateError;
use toolwright_mcp::CallRejection;

use crate::auth::session_cookie::SessionError;

/// The response to a request that failed.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) status: StatusCode,
    pub(crate) kind: Cow<'static, str>,
    pub(crate) message: String,
    /// The value of the `WWW-Authenticate` header.
    www_authenticate: Option<HeaderValue>,
    /// How long the client should wait, for the `Retry-After` header.
    retry_after: Option<Duration>,
    /// The quota that is used up, by the name of its setting.
    pub(crate) limit: Option<&'static str>,
}

impl ErrorResponse {
    pub(crate) fn new(
        status: StatusCode,
        kind: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        let (kind, message) = (kind.into(), message.into());
        Self { status, kind, message, www_authenticate: None, retry_after: None, limit: None }
    }

    /// 400: the request is malformed or incomplete.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    /// 404.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown", message)
    }

    /// 405.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "this path does not take that method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
    }

    pub(crate) fn no_such_conversation() -> Self {
        ConversationError::NotFound.into()
    }

    /// 409: not possible in the current state of the conversation.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "refused", message)
    }

    /// 429: a limit of the conversation or the server is reached.
    pub(crate) fn too_many_requests(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "busy", message)
    }

    /// 500: the response could not be encoded.
    pub(crate) fn unencodable(error: impl Display) -> Self {
        let message = format!("the answer cannot be written: {error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// Adds a `Retry-After` header.
    #[must_use]
    pub(crate) fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// 503: another node, or the next process, answers this request.
    pub(crate) fn ending() -> Self {
        let message = "the server is about to end";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ending", message)
            .with_retry_after(Duration::ZERO)
    }

    /// 404, for the check of a balancer: this node answers the requests that it has, and should receive no others.
    pub(crate) fn draining() -> Self {
        Self { status: StatusCode::NOT_FOUND, ..Self::ending() }
    }

    /// 401: the credential is missing or no longer valid.
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }
}

impl ErrorResponse {
    /// Returns true if the same request may succeed a little later.
    pub(crate) fn is_transient(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The value of the `Retry-After` header: whole seconds, at least one.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        let wait = self.retry_after?;
        Some(wait.as_secs().saturating_add(1))
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self.limit {
            None => json!({ "kind": self.kind, "message": self.message }),
            // Clients of a WebSocket receive no headers.
            Some(limit) => json!({
                "kind": self.kind,
                "message": self.message,
                "limit": limit,
                "retry_after": self.retry_after(),
            }),
        }
    }
}

impl From<AccessDenied> for ErrorResponse {
    fn from(denied: AccessDenied) -> Self {
        let kind = match denied.status() {
            StatusCode::UNAUTHORIZED => "unauthorized",
            StatusCode::BAD_REQUEST => "invalid",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            _ => "forbidden",
        };
        Self {
            www_authenticate: denied.challenge(),
            ..Self::new(denied.status(), kind, denied.message())
        }
    }
}

/// The status of each kind of error of a conversation.
fn status_of(kind: ConversationErrorKind) -> StatusCode {
    use ConversationErrorKind as Kind;
    match kind {
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::Unauthorized => StatusCode::UNAUTHORIZED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::NotFound | Kind::NoInput => StatusCode::NOT_FOUND,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::UnknownTool | Kind::Prompt => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::Busy | Kind::RateLimit | Kind::Quota => StatusCode::TOO_MANY_REQUESTS,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Kind::Tools | Kind::Ended | Kind::Chat | Kind::Model(_) => StatusCode::BAD_GATEWAY,
        Kind::UnknownPrice
        | Kind::Overloaded
        | Kind::Unavailable
        | Kind::Store
        | Kind::Withdrawn => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The status of a response of the OpenAI API whose turn failed, by the kind of the error.
pub(crate) fn openai_status(kind: &str) -> StatusCode {
    match kind {
        "rate_limit" | "quota" | "busy" => StatusCode::TOO_MANY_REQUESTS,
        "context_too_long" | "content_filter" | "bad_request" | "tools" => StatusCode::BAD_REQUEST,
        "timeout" => StatusCode::GATEWAY_TIMEOUT,
        "overloaded" | "goodbye" | "gone" | "store" => StatusCode::SERVICE_UNAVAILABLE,
        "internal" | "approval" | "limit" | "failed" | "cancelled" => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::BAD_GATEWAY,
    }
}

/// The code of an error as OpenAI names it.
pub(crate) fn openai_code(kind: &str) -> &str {
    match kind {
        "context_too_long" => "context_length_exceeded",
        // Clients do not retry requests with this code.
        "quota" => "insufficient_quota",
        kind => kind,
    }
}

/// The error of an MCP client whose call is not counted.
pub(crate) fn call_rejection(error: ConversationError) -> CallRejection {
    let error = ErrorResponse::from(error);
    let retry_after = error.retry_after().map_or(Duration::from_secs(60), Duration::from_secs);
    CallRejection { message: error.message, retry_after }
}

impl From<ConversationError> for ErrorResponse {
    fn from(error: ConversationError) -> Self {
        match &error {
            ConversationError::Store(StoreError::Overloaded { .. }) => {}
            ConversationError::Store(error) => tracing::warn!("the store failed: {error}"),
            ConversationError::SharedState(error) => {
                tracing::warn!("the shared state failed: {error}");
            }
            _ => {}
        }
        let limit = match &error {
            ConversationError::Quota { limit, .. } => Some(*limit),
            _ => None,
        };
        let kind = error.kind();
        Self {
            retry_after: error.retry_after(),
            limit,
            ..Self::new(status_of(kind), kind.name(), error.message())
        }
    }
}

impl From<StoreError> for ErrorResponse {
    fn from(error: StoreError) -> Self {
        ConversationError::from(error).into()
    }
}

impl From<SharedStateError> for ErrorResponse {
    fn from(error: SharedStateError) -> Self {
        ConversationError::from(error).into()
    }
}

impl From<ChatError> for ErrorResponse {
    fn from(error: ChatError) -> Self {
        ConversationError::from(error).into()
    }
}

impl From<SessionError> for ErrorResponse {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::State(error) => error.into(),
            SessionError::ProviderAway => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", error.to_string())
            }
        }
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.to_json() });
        let retry_after = self.retry_after();
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(challenge) = self.www_authenticate {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(wait) = retry_after {
            headers.insert(header::RETRY_AFTER, wait.into());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use toolwright_chat::{ModelError, ModelErrorKind};
    use toolwright_conversation::node_message::NodeMessage;

    use super::*;

    /// An error after it was sent to another node.
    fn of_other_node(error: &ConversationError) -> ConversationError {
        let text = NodeMessage::rejected("item".to_owned(), error).to_json();
        match NodeMessage::from_json(&text) {
            Some(NodeMessage::Rejected { error: kind, message, .. }) => {
                ConversationError::OtherNode { kind, message }
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn an_error_has_the_same_status_kind_and_message_at_every_node() {
        let retry_after = Duration::from_secs(5);
        let message = "sk-live-0123456789abcdefghij is full";
        let quota = |limit| {
            let message = "used up".to_owned();
            ConversationError::Quota { limit, message, retry_after }
        };
        let store = || StoreError::new(message);
        let model = ModelError::new(ModelErrorKind::Forbidden, "no");
        let rows: [(ConversationError, u16, &str); 17] = [
            (ConversationError::NotFound, 404, "unknown"),
            (ConversationError::NotQueued, 404, "unknown"),
            (ConversationError::Invalid { message: "?".to_owned() }, 400, "invalid"),
            (ConversationError::Forbidden { message: "no" }, 403, "forbidden"),
            (ConversationError::not_taken(), 409, "refused"),
            (ConversationError::Full { message: "full" }, 429, "busy"),
            (quota("messages_per_minute"), 429, "rate_limit"),
            (quota("tokens_per_day"), 429, "quota"),
            (ConversationError::UnknownPrice { model: "m".to_owned() }, 503, "quota"),
            (ConversationError::Undecided { message: "?" }, 503, "unavailable"),
            (store().into(), 503, "store"),
            (SharedStateError::new(message).into(), 503, "store"),
            (ChatError::from(store()).into(), 503, "store"),
            (ChatError::Busy { reason: "elsewhere".to_owned() }.into(), 429, "busy"),
            (ChatError::NoInput.into(), 404, "silent"),
            (ChatError::from(model).into(), 502, "forbidden"),
            (
                StoreError::Overloaded { message: message.to_owned(), retry_after }.into(),
                503,
                "overloaded",
            ),
        ];
        for (error, status, kind) in rows {
            let shown = |error: ConversationError| {
                let response = ErrorResponse::from(error);
                (response.status.as_u16(), response.kind, response.message)
            };
            let remote = shown(of_other_node(&error));
            let own = shown(error.clone());
            assert_eq!((own.0, &*own.1), (status, kind), "{error:?}");
            assert_eq!(own, remote);
            assert!(!own.2.contains("0123456789"), "{error:?}");
        }
    }
}
