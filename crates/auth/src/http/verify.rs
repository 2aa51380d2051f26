//! The role that verifies tokens, and the claims that it returns.

use std::time::SystemTime;

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use toolwright_core::Secret;

use crate::http::identity::Identity;
use crate::http::verify_error::VerifyError;

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
/// use toolwright::auth::{Claims, ResourceServer, VerifyError};
/// use toolwright::Secret;
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
    pub(crate) identity: Identity,
    pub(crate) audience: Vec<String>,
    pub(crate) not_before: Option<SystemTime>,
    /// The claims of the token that nothing here has read.
    pub(crate) others: Map<String, Value>,
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
            identity: Identity::new(subject),
            audience: audience.into_iter().map(Into::into).collect(),
            not_before: None,
            others: Map::new(),
        }
    }

    /// Adds granted scopes.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.identity = self.identity.scopes(scopes);
        self
    }

    /// Adds a value of a claim, as [`Identity::claim`] does.
    #[must_use]
    pub fn claim(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.identity = self.identity.claim(name, value);
        self
    }

    /// Sets the expiry; without, the token does not expire.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.identity.expires_at = Some(at);
        self
    }

    /// Sets when the token becomes valid.
    #[must_use]
    pub fn not_before(mut self, at: SystemTime) -> Self {
        self.not_before = Some(at);
        self
    }
}
