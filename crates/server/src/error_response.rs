//! What is wrong with a request, as its answer says it: the one file with status codes of our own.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use toolwright_auth::AccessDenied;
use toolwright_chat::{ChatError, StoreError};
use toolwright_schema::redact;

use crate::turn_error::error_kind;

/// Why a request is not answered.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) status: StatusCode,
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    /// What the client has to bring.
    www_authenticate: Option<HeaderValue>,
    /// When the client may try again, where that is known.
    retry_after: Option<Duration>,
}

impl ErrorResponse {
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            www_authenticate: None,
            retry_after: None,
        }
    }

    /// The request does not say what it has to.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    /// There is no such thing.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown", message)
    }

    /// It cannot be done as things stand.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "refused", message)
    }

    /// It can perhaps be done later.
    pub(crate) fn too_many_requests(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "busy", message)
    }

    /// Adds a `Retry-After` header.
    #[must_use]
    pub(crate) fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The server has too much to do to take on more.
    pub(crate) fn overloaded(message: impl Into<String>, retry_after: Duration) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
        }
    }

    /// The credential is missing, or not good any more.
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
        json!({ "kind": self.kind, "message": self.message })
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

impl From<StoreError> for ErrorResponse {
    fn from(error: StoreError) -> Self {
        let message = redact(&error.to_string()).into_owned();
        match error.retry_after() {
            Some(wait) => Self::overloaded(message, wait),
            None => {
                tracing::warn!("the store failed: {error}");
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", message)
            }
        }
    }
}

impl From<ChatError> for ErrorResponse {
    fn from(error: ChatError) -> Self {
        let status = match &error {
            ChatError::Rejected { .. } => StatusCode::CONFLICT,
            ChatError::NotAllowed { .. } => StatusCode::FORBIDDEN,
            ChatError::Busy { .. } => StatusCode::TOO_MANY_REQUESTS,
            ChatError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            ChatError::NoInput => StatusCode::NOT_FOUND,
            ChatError::Prompt { .. } | ChatError::UnknownTool { .. } => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            _ => StatusCode::BAD_GATEWAY,
        };
        let message = redact(&error.to_string()).into_owned();
        Self::new(status, error_kind(&error), message)
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
