//! A fixed table of tokens and their claims.

use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use toolwright_core::Secret;

use super::{Claims, TokenVerifier};
use crate::http::verify_error::VerifyError;

/// A fixed table of tokens: for tests, and for a few clients that seldom change.
///
/// # Examples
///
/// ```
/// use toolwright::auth::{Claims, ResourceServer, StaticTokens};
/// use toolwright::Secret;
///
/// let resource = "https://tools.example.com/mcp";
/// let table = StaticTokens::new().token(&Secret::new("a-long-random-text"), Claims::new("ada", [resource]));
/// let oauth = ResourceServer::new(resource, table).authorization_server("https://login.example.com");
/// ```
#[derive(Default)]
pub struct StaticTokens(Vec<([u8; 32], Claims)>);

impl StaticTokens {
    /// Makes an empty table, which accepts no token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token and its claims.
    #[must_use]
    pub fn token(mut self, token: &Secret, claims: Claims) -> Self {
        self.0.push((digest(token), claims));
        self
    }
}

impl TokenVerifier for StaticTokens {
    fn verify<'a>(&'a self, token: &'a Secret) -> BoxFuture<'a, Result<Claims, VerifyError>> {
        // Digests are compared, so that the time it takes reveals nothing about the tokens.
        let digest = digest(token);
        let found = self.0.iter().find(|(known, _)| *known == digest);
        let claims = found.map(|(_, claims)| claims.clone());
        let claims = claims.ok_or_else(|| VerifyError::invalid_token("the token is not known"));
        Box::pin(std::future::ready(claims))
    }
}

impl std::fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StaticTokens of {} tokens", self.0.len())
    }
}

fn digest(token: &Secret) -> [u8; 32] {
    Sha256::digest(token.expose()).into()
}
