//! A token in, a visitor out: who it is, and which tools they reach.
//!
//! The server is an OAuth 2.1 *resource server*: it makes no tokens and asks nobody to log in. It says which authorization
//! server does ([RFC 9728]), has tokens verified by a [`TokenVerifier`], takes only those made for itself ([RFC 8707]), and lets
//! scopes open tools. The token goes no further than this: tools meet a caller and the names of scopes.
//!
//! [RFC 9728]: https://www.rfc-editor.org/rfc/rfc9728
//! [RFC 8707]: https://www.rfc-editor.org/rfc/rfc8707

use std::time::Duration;

mod claims;
mod config;
mod jwks;
mod oauth_authenticator;
mod principal;
mod scope_rules;
mod scoped_tools;
mod secure_url;
mod static_tokens;

pub use claims::{Claims, TokenVerifier, VerifyError};
pub use jwks::Jwks;
pub(crate) use oauth_authenticator::{AuthError, OAuthAuthenticator};
pub use principal::Principal;
pub use scope_rules::ScopeRule;
pub(crate) use scoped_tools::ScopedTools;
pub use static_tokens::StaticTokens;

/// How far clocks may be apart, unless it is said.
const DEFAULT_CLOCK_SKEW: Duration = Duration::from_secs(60);

/// This server as the resource that tokens are for: who verifies them, and what their scopes open.
///
/// Without any [`scope`](ResourceServer::scope), whoever brings a good token reaches everything. With scopes, a tool, prompt
/// or resource is listed and callable only if a scope of the token opens it.
///
/// # Examples
///
/// ```
/// # use toolwright::{Invoker, Registry};
/// # let invoker = Invoker::new(&Registry::new())?;
/// use toolwright_mcp::{Jwks, McpServer, ScopeRule, ResourceServer};
///
/// let oauth = ResourceServer::new("https://tools.example.com/mcp", Jwks::new("https://login.example.com")?)
///     .scope("tools:read", ScopeRule::read_only())
///     .scope("tools:all", ScopeRule::all())
///     .implies("tools:all", ["tools:read"])
///     .needs(["tools:read"]);
/// let server = McpServer::builder(invoker).oauth(oauth).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ResourceServer {
    resource: String,
    audiences: Vec<String>,
    issuers: Vec<String>,
    verifier: Box<dyn TokenVerifier>,
    rules: scope_rules::ScopeRules,
    clock_skew: Duration,
}

impl ResourceServer {
    /// Protects the server that clients reach at `resource`, such as `https://tools.example.com/mcp`.
    ///
    /// Tokens have to name this address as their audience.
    pub fn new(resource: impl Into<String>, verifier: impl TokenVerifier) -> Self {
        Self {
            resource: resource.into(),
            audiences: Vec::new(),
            issuers: verifier.issuer().map(str::to_owned).into_iter().collect(),
            verifier: Box::new(verifier),
            rules: scope_rules::ScopeRules::default(),
            clock_skew: DEFAULT_CLOCK_SKEW,
        }
    }

    /// Names an authorization server that clients get tokens from, where the verifier does not name it.
    #[must_use]
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.issuers.push(issuer.into());
        self
    }

    /// Takes tokens for this audience too: the name that an authorization server has for this server, where that is not its
    /// address.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Says what a scope opens; what no scope opens is there for nobody.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>, opens: ScopeRule) -> Self {
        self.rules.by_scope.push((scope.into(), opens));
        self
    }

    /// Says that whoever was granted a scope has these as well.
    #[must_use]
    pub fn implies<S: Into<String>>(
        mut self,
        scope: impl Into<String>,
        others: impl IntoIterator<Item = S>,
    ) -> Self {
        let others = others.into_iter().map(Into::into).collect();
        self.rules.implied_scopes.push((scope.into(), others));
        self
    }

    /// Names the scopes that every request needs; clients ask for these first.
    #[must_use]
    pub fn required_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.rules
            .required_scopes
            .extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets how far the clocks of this machine and of the authorization server may be apart: a minute unless it is set, five at
    /// most.
    #[must_use]
    pub fn clock_skew(mut self, skew: Duration) -> Self {
        self.clock_skew = skew;
        self
    }
}

impl std::fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceServer")
            .field("resource", &self.resource)
            .field("issuers", &self.issuers)
            .finish_non_exhaustive()
    }
}
