//! The role that verifies tokens, and the claims that it returns.

use std::collections::BTreeSet;
use std::time::SystemTime;

use futures::future::BoxFuture;
use toolwright_core::Secret;

mod jwks;
mod static_tokens;

pub use jwks::Jwks;
pub use static_tokens::StaticTokens;

/// Verifies tokens: by their signature, by a table, by a request to the authorization server.
///
/// It returns the claims of a token. Their audience and times are checked afterwards, so that no verifier can forget it.
///
/// A closure is a verifier too, for tokens that only the authorization server can read:
///
/// ```
/// use toolwright_auth::{Claims, ResourceServer, VerifyError};
/// use toolwright_core::Secret;
///
/// let oauth = ResourceServer::new("https://tools.example.com/mcp", async |token: Secret| {
///     // A request to the authorization server (RFC 7662) would be here.
///     match token.expose() {
///         "opaque-7f3a" => Ok(Claims::new("ada", ["https://tools.example.com/mcp"]).scopes(["tools:read"])),
///         _ => Err(VerifyError::invalid_token("the token is not known")),
///     }
/// });
/// ```
///
/// # Cancellation
///
/// The future is dropped when the client hangs up.
pub trait TokenVerifier: Send + Sync + 'static {
    /// Returns the address of the authorization server that issues these tokens, if there is one.
    fn issuer(&self) -> Option<&str> {
        None
    }

    /// Returns the claims of a token.
    ///
    /// # Errors
    ///
    /// When the token is invalid, or cannot be verified now.
    fn verify<'a>(&'a self, token: &'a Secret) -> BoxFuture<'a, Result<Claims, VerifyError>>;
}

impl<F, Fut> TokenVerifier for F
where
    F: Fn(Secret) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Claims, VerifyError>> + Send + 'static,
{
    fn verify<'a>(&'a self, token: &'a Secret) -> BoxFuture<'a, Result<Claims, VerifyError>> {
        Box::pin(self(token.clone()))
    }
}

/// The claims of a verified token.
#[derive(Clone, Debug)]
pub struct Claims {
    pub(crate) subject: String,
    pub(crate) audience: Vec<String>,
    pub(crate) scopes: BTreeSet<String>,
    pub(crate) expires: Option<SystemTime>,
    pub(crate) not_before: Option<SystemTime>,
}

impl Claims {
    /// Claims of a subject, for a token that is issued for these audiences.
    ///
    /// Sessions and tasks belong to the subject: with several authorization servers, no two of their users may have the same one.
    pub fn new<A: Into<String>>(
        subject: impl Into<String>,
        audience: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            subject: subject.into(),
            audience: audience.into_iter().map(Into::into).collect(),
            scopes: BTreeSet::new(),
            expires: None,
            not_before: None,
        }
    }

    /// Adds granted scopes.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the expiry; without, the token does not expire.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Sets when the token becomes valid.
    #[must_use]
    pub fn not_before(mut self, at: SystemTime) -> Self {
        self.not_before = Some(at);
        self
    }
}

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
