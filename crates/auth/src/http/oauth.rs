//! The OAuth 2.1 *resource server*: which tokens of an authorization server are accepted, and what their scopes grant.
//!
//! It issues no tokens and has no login page. Its metadata name the authorization server that does ([RFC 9728]), a
//! [`TokenVerifier`] verifies tokens, and only those with this server as their audience are accepted ([RFC 8707]). The token goes
//! no further than this: tools receive a caller and the names of scopes.
//!
//! [RFC 9728]: https://www.rfc-editor.org/rfc/rfc9728
//! [RFC 8707]: https://www.rfc-editor.org/rfc/rfc8707

use std::time::Duration;

use crate::http::verify::TokenVerifier;
use crate::scope_rules::{ScopeRule, ScopeRules};

mod bearer_token;
mod config;
mod oauth_authenticator;
pub(crate) mod secure_url;

pub(crate) use oauth_authenticator::OAuthAuthenticator;

const DEFAULT_CLOCK_SKEW: Duration = Duration::from_secs(60);

/// The protected resource that tokens are issued for: how tokens are verified, and what their scopes grant.
///
/// Without any [`scope`](ResourceServer::scope), every valid token grants all tools. With scopes, a tool, prompt or resource is
/// listed and callable only if a scope of the token grants it.
///
/// # Examples
///
/// ```
/// # use toolwright::{Invoker, Registry};
/// # let invoker = Invoker::new(&Registry::new())?;
/// use toolwright::auth::{Authenticator, Jwks, ResourceServer, ScopeRule};
///
/// let oauth = ResourceServer::new("https://tools.example.com/mcp", Jwks::new("https://login.example.com")?)
///     .scope("tools:read", ScopeRule::read_only())
///     .scope("tools:all", ScopeRule::all())
///     .implies("tools:all", ["tools:read"])
///     .required_scopes(["tools:read"]);
/// let auth = Authenticator::builder(invoker).oauth(oauth).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "no token is accepted before it is given to `.oauth(…)`"]
pub struct ResourceServer {
    resource: String,
    audiences: Vec<String>,
    issuers: Vec<String>,
    verifier: Box<dyn TokenVerifier>,
    pub(crate) rules: ScopeRules,
    clock_skew: Duration,
}

impl ResourceServer {
    /// Protects the server that clients reach at `resource`, such as `https://tools.example.com/mcp`.
    ///
    /// Tokens must have this address among their audiences.
    pub fn new(resource: impl Into<String>, verifier: impl TokenVerifier) -> Self {
        Self {
            resource: resource.into(),
            audiences: Vec::new(),
            issuers: verifier.issuer().map(str::to_owned).into_iter().collect(),
            verifier: Box::new(verifier),
            rules: ScopeRules::default(),
            clock_skew: DEFAULT_CLOCK_SKEW,
        }
    }

    /// Adds an authorization server that clients get tokens from, where the verifier has no [`issuer`](TokenVerifier::issuer).
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.issuers.push(issuer.into());
        self
    }

    /// Accepts tokens for this audience too: the authorization server's name of this server, where that is not its address.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Defines what a scope grants; a tool that no scope grants is neither listed nor callable.
    pub fn scope(mut self, scope: impl Into<String>, rule: ScopeRule) -> Self {
        self.rules.by_scope.push((scope.into(), rule));
        self
    }

    /// Makes a scope include others: a token that has it is treated as if it had these as well.
    pub fn implies<S: Into<String>>(
        mut self,
        scope: impl Into<String>,
        others: impl IntoIterator<Item = S>,
    ) -> Self {
        let others = others.into_iter().map(Into::into).collect();
        self.rules.implied_scopes.push((scope.into(), others));
        self
    }

    /// Sets the scopes that every request needs; clients request these first.
    pub fn required_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.rules.required_scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the tolerated difference between the clocks of this machine and of the authorization server: a minute by default,
    /// five at most.
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
