//! Why a credential was not accepted.

/// Why the claims of a token cannot be returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is invalid.
    #[error("{reason}")]
    InvalidToken {
        /// Sent to the client: must not contain a part of the token.
        reason: String,
    },
    /// Tokens cannot be verified now; the client may try again.
    #[error("tokens cannot be verified now")]
    Unavailable {
        /// Logged, not sent to the client.
        reason: String,
    },
}

impl VerifyError {
    /// The token is invalid; the client receives the reason.
    pub fn invalid_token(reason: impl Into<String>) -> Self {
        Self::InvalidToken { reason: reason.into() }
    }

    /// Tokens cannot be verified now; the reason is logged.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into() }
    }
}
