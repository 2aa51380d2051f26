//! Tokens, OAuth, hosts and origins in, an authenticator out.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::request::Parts;
use toolwright_core::{Invoker, Secret};

use super::configured_tokens::ConfiguredTokens;
use super::{Authenticator, Credentials, Inner, SignInProvider};
use crate::http::error::AuthBuildError;
use crate::http::forwarded::TrustedProxies;
use crate::http::identity::Identity;
use crate::http::login::Login;
use crate::http::oauth::{OAuthAuthenticator, ResourceServer};
use crate::http::scope_config::Scopes;
use crate::http::sign_in::SignIn;
use crate::http::verify_error::VerifyError;
use crate::scope_rules::{ScopeRule, ScopeRules};
use crate::scoped_tools::{ScopedTools, ScopedToolsCache};

/// Builds an [`Authenticator`]; [`build`](AuthenticatorBuilder::build) reports invalid settings.
#[must_use = "nothing is authenticated before `.build()`"]
pub struct AuthenticatorBuilder {
    invoker: Invoker,
    /// Each with the name of its caller; without a name, several people share it.
    tokens: Vec<(Option<String>, Secret)>,
    oauth: Option<ResourceServer>,
    login: Option<Login>,
    providers: Vec<SignInProvider>,
    /// The scopes that providers grant, each after the words for who is granted it.
    granted_scopes: Vec<(String, String)>,
    rules: ScopeRules,
    kept_claims: BTreeSet<String>,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    trusted_proxies: Vec<String>,
}

impl AuthenticatorBuilder {
    pub(super) fn new(invoker: Invoker) -> Self {
        Self {
            invoker,
            tokens: Vec::new(),
            oauth: None,
            login: None,
            providers: Vec::new(),
            granted_scopes: Vec::new(),
            rules: ScopeRules::default(),
            kept_claims: BTreeSet::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
        }
    }

    /// Accepts this token. Several people may share it: all of them are the caller named `token`.
    pub fn token(mut self, token: Secret) -> Self {
        self.tokens.push((None, token));
        self
    }

    /// Accepts this token as the caller of this name; can be repeated for other callers.
    pub fn token_for(mut self, caller: impl Into<String>, token: Secret) -> Self {
        self.tokens.push((Some(caller.into()), token));
        self
    }

    /// Accepts tokens of an authorization server, each as the caller that it names, for the tools that its scopes grant.
    ///
    /// Scopes filter the view that the invoker was built from: an invoker that was `adjusted` afterwards is rejected, and one
    /// that was `pinned` follows the registry again.
    pub fn oauth(mut self, oauth: ResourceServer) -> Self {
        self.oauth = Some(oauth);
        self
    }

    /// Accepts the requests that a login of the program identifies: by its session cookie, a JWT, or a header of a proxy.
    ///
    /// `login` returns `None` for a request that is not logged in; it may still have a token. It is called with the head of
    /// every request, and for an open WebSocket or stream again with the head that opened it: at each message and heartbeat. A
    /// middleware that inserts an [`Identity`] into the extensions of requests takes its place with
    /// `.login(Identity::from_extensions)`; the identity then holds as long as the connection, or until it expires.
    ///
    /// Host and origin are checked as for all requests, so that no page of another site can use the cookie.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let invoker = Invoker::new(&Registry::new())?;
    /// use axum::http::request::Parts;
    /// use toolwright::auth::{Authenticator, Identity, ScopeRule};
    ///
    /// let auth = Authenticator::builder(invoker)
    ///     .login(async |head: Parts| match head.headers.get("x-user") {
    ///         Some(user) => Ok(user.to_str().ok().map(|user| Identity::new(user).scopes(["read"]))),
    ///         None => Ok(None),
    ///     })
    ///     .scope("read", ScopeRule::read_only())
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn login<F, Fut>(mut self, login: F) -> Self
    where
        F: Fn(Parts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<Identity>, VerifyError>> + Send + 'static,
    {
        self.login = Some(Login::new(login));
        self
    }

    /// Accepts the sessions of people who have signed in with these providers, each a [`SessionIdentity`](crate::SessionIdentity) in
    /// the extensions of a request.
    ///
    /// The subjects of a provider begin with its name and a colon; other credentials with such a subject are rejected, except tokens
    /// of the provider's own issuer, whose subjects become the same.
    pub fn sign_in(mut self, sign_in: &SignIn) -> Self {
        self.providers.extend(sign_in.providers().iter().map(|provider| SignInProvider {
            prefix: format!("{}:", provider.name()),
            issuer: provider.issuer().to_owned(),
        }));
        for provider in sign_in.providers() {
            self.granted_scopes.extend(provider.grants_of_groups().map(|(group, scope)| {
                let name = provider.name();
                (format!("the group `{group}` of `[login.{name}.grants]`"), scope.to_owned())
            }));
        }
        self
    }

    /// Defines what scopes grant, as the settings define it; in addition to [`scope`](Self::scope).
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.rules = self.rules.merge(Some(scopes.0));
        self
    }

    /// Defines what a scope of an [`Identity`] grants, as [`ResourceServer::scope`] does. Without any, every identity may use
    /// all tools.
    pub fn scope(mut self, scope: impl Into<String>, rule: ScopeRule) -> Self {
        self.rules.by_scope.push((scope.into(), rule));
        self
    }

    /// Keeps these claims of tokens and of people who sign in, by their names or paths (`realm_access.roles`), for
    /// [`Principal::claims`](crate::Principal::claims). Other claims of theirs are not kept.
    pub fn keep_claims<C: Into<String>>(mut self, claims: impl IntoIterator<Item = C>) -> Self {
        self.kept_claims.extend(claims.into_iter().map(Into::into));
        self
    }

    /// Names hosts that the server is reached by beside this machine's: `tools.example.com`, no port.
    pub fn allowed_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.allowed_hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Names other origins whose pages may call the server: `https://app.example.com`.
    pub fn allowed_origins<O: Into<String>>(
        mut self,
        origins: impl IntoIterator<Item = O>,
    ) -> Self {
        self.allowed_origins.extend(origins.into_iter().map(Into::into));
        self
    }

    /// Names the proxies in front of the server, by address or network: `127.0.0.1`, `10.0.0.0/8`. `Forwarded` and `X-Forwarded-*`
    /// are read only from them.
    pub fn trusted_proxies<P: Into<String>>(
        mut self,
        proxies: impl IntoIterator<Item = P>,
    ) -> Self {
        self.trusted_proxies.extend(proxies.into_iter().map(Into::into));
        self
    }

    /// Builds the authenticator.
    ///
    /// # Errors
    ///
    /// When a token is too short, a proxy is neither an address nor a network, the settings of OAuth are invalid, or a scope is granted or
    /// implied that does not exist.
    pub fn build(self) -> Result<Authenticator, AuthBuildError> {
        let mut tokens = ConfiguredTokens::default();
        for (caller, token) in &self.tokens {
            tokens.add(caller.as_deref(), token)?;
        }
        if self.oauth.is_some() && !tokens.is_empty() {
            return Err(AuthBuildError::OAuth {
                message:
                    "there are tokens as well: name them in a `StaticTokens`, or leave them out"
                        .to_owned(),
            });
        }
        let mut oauth = self.oauth;
        let rules = self.rules.merge(oauth.as_mut().map(|oauth| std::mem::take(&mut oauth.rules)));
        rules.validate().map_err(|message| AuthBuildError::OAuth { message })?;
        let known = rules.check_known(&self.granted_scopes);
        known.map_err(|message| AuthBuildError::Scopes { message })?;
        if !rules.is_empty() {
            reject_modified_invoker(&self.invoker)?;
        }
        let rules = Arc::new(rules);
        let oauth = oauth.map(|oauth| {
            OAuthAuthenticator::new(oauth, Arc::clone(&rules), self.kept_claims.clone())
        });
        let credentials = Credentials {
            login: self.login,
            providers: self.providers,
            tokens,
            oauth: oauth.transpose()?,
            rules,
            kept_claims: self.kept_claims,
            allowed_hosts: self.allowed_hosts,
            allowed_origins: self.allowed_origins,
            trusted_proxies: TrustedProxies::parse(&self.trusted_proxies)?,
        };
        Ok(Authenticator(Arc::new(Inner {
            credentials: Arc::new(credentials),
            all_tools: Arc::new(ScopedTools::unrestricted(self.invoker)),
            scoped_tools: ScopedToolsCache::default(),
        })))
    }
}

impl std::fmt::Debug for AuthenticatorBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthenticatorBuilder").finish_non_exhaustive()
    }
}

/// Rejects an invoker that was changed after it was built: filtering by scopes rebuilds it from its view, without the change.
fn reject_modified_invoker(invoker: &Invoker) -> Result<(), AuthBuildError> {
    let rebuilt = invoker.with_view(|view| view)?;
    let describe_tools = |invoker: &Invoker| -> Result<Vec<String>, AuthBuildError> {
        let snapshot = invoker.snapshot().map_err(toolwright_core::InvokerError::from)?;
        // A policy has no equality, but its `Debug` output is complete.
        let describe = |entry: &toolwright_core::RegisteredTool| {
            format!("{} {:?}", entry.spec().name, entry.policy())
        };
        Ok(snapshot.iter().map(describe).collect())
    };
    if describe_tools(invoker)? == describe_tools(&rebuilt)? {
        return Ok(());
    }
    Err(AuthBuildError::OAuth {
        message: "scopes would undo what was pinned or adjusted on the invoker: adjust the view that it is built from".to_owned(),
    })
}
