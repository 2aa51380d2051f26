//! Tokens that are written down here, each with what it claims.

use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use toolwright_core::Secret;

use super::claims::{Claims, TokenVerifier, VerifyError};

/// A table of tokens: for tests, and for few clients that change seldom.
///
/// # Examples
///
/// ```
/// use toolwright::Secret;
/// use toolwright_mcp::{Claims, ResourceServer, StaticTokens};
///
/// let here = "https://tools.example.com/mcp";
/// let table = StaticTokens::new().token(&Secret::new("a-long-random-text"), Claims::new("ada", [here]));
/// let oauth = ResourceServer::new(here, table).authorization_server("https://login.example.com");
/// ```
#[derive(Default)]
pub struct StaticTokens(Vec<([u8; 32], Claims)>);

impl StaticTokens {
    /// Makes an empty table, which takes no token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a token, and says what it claims.
    #[must_use]
    pub fn token(mut self, token: &Secret, claims: Claims) -> Self {
        self.0.push((digest(token), claims));
        self
    }
}

impl TokenVerifier for StaticTokens {
    fn verify<'a>(&'a self, token: &'a Secret) -> BoxFuture<'a, Result<Claims, VerifyError>> {
        // Digests are compared, so that how long it takes tells nothing of the tokens.
        let sent = digest(token);
        let known = self.0.iter().find(|(known, _)| *known == sent);
        let known = known.map(|(_, claims)| claims.clone());
        let known = known.ok_or_else(|| VerifyError::invalid_token("the token is not known"));
        Box::pin(std::future::ready(known))
    }
}

impl std::fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenTable of {} tokens", self.0.len())
    }
}

fn digest(token: &Secret) -> [u8; 32] {
    Sha256::digest(token.expose()).into()
}
