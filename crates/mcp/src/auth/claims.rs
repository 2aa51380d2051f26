//! The role of whoever knows what a token means, and what they say of it.

use std::collections::BTreeSet;
use std::time::SystemTime;

use futures::future::BoxFuture;
use toolwright_core::Secret;

/// Somebody who knows which tokens are good: by their signature, by a table, by asking the authorization server.
///
/// It says what a token claims. Whether it is for this server and still good is checked afterwards, whoever verified it.
///
/// A closure will do, for tokens that only their maker can read:
///
/// ```
/// use toolwright_mcp::{Claims, ResourceServer, VerifyError};
/// use toolwright::Secret;
///
/// let oauth = ResourceServer::new("https://tools.example.com/mcp", async |token: Secret| {
///     // Here the authorization server would be asked about `token`.
///     match token.expose() {
///         "opaque-7f3a" => Ok(Claims::new("ada", ["https://tools.example.com/mcp"]).scopes(["tools:read"])),
///         _ => Err(VerifyError::refused("the token is not known")),
///     }
/// });
/// ```
///
/// # Cancellation
///
/// The future is dropped when the client hangs up.
pub trait TokenVerifier: Send + Sync + 'static {
    /// Names the authorization server whose tokens these are, if there is one.
    fn issuer(&self) -> Option<&str> {
        None
    }

    /// Says what a token claims.
    ///
    /// # Errors
    ///
    /// When the token is not good, or nobody can tell now.
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

/// What a token claims about whoever brings it.
#[derive(Clone, Debug)]
pub struct Claims {
    pub(super) subject: String,
    pub(super) audience: Vec<String>,
    pub(super) scopes: BTreeSet<String>,
    pub(super) expires: Option<SystemTime>,
    pub(super) not_before: Option<SystemTime>,
}

impl Claims {
    /// Says who it is, and which servers the token is for.
    ///
    /// Sessions and tasks are the subject's: where there are several authorization servers, it has to tell their people apart.
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

    /// Says which scopes were granted.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Says when the token ends.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Says when the token begins.
    #[must_use]
    pub fn not_before(mut self, at: SystemTime) -> Self {
        self.not_before = Some(at);
        self
    }
}

/// Why a token was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It is not good; the client is told why.
    #[error("{why}")]
    InvalidToken {
        /// The reason, without anything of the token.
        why: String,
    },
    /// Nobody can tell now; the client may try again.
    #[error("tokens cannot be verified now")]
    Unavailable {
        /// What is missing, for the host's log.
        why: String,
    },
}

impl VerifyError {
    /// Refuses a token; the client is told why.
    pub fn invalid_token(why: impl Into<String>) -> Self {
        Self::InvalidToken { why: why.into() }
    }

    /// Says that nobody can tell now; the host reads why in its log.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable { why: why.into() }
    }
}
