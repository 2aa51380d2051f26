//! The error of a request that is not authenticated.

use axum::http::{HeaderValue, StatusCode};

/// Why a request is rejected, and what the client can do about it.
#[derive(Clone, Debug)]
pub struct AccessDenied {
    status: StatusCode,
    message: String,
    challenge: Option<HeaderValue>,
}

impl AccessDenied {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), challenge: None }
    }

    pub(crate) fn unavailable() -> Self {
        let message = "tokens cannot be verified now: try again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    pub(crate) fn with_challenge(mut self, challenge: &str) -> Self {
        self.challenge = HeaderValue::from_str(challenge).ok();
        self
    }

    /// Returns the status of the response: 400, 401, 403 or 503.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns what is wrong and what to do about it.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the `WWW-Authenticate` header that names the required credential.
    pub fn challenge(&self) -> Option<HeaderValue> {
        self.challenge.clone()
    }
}
