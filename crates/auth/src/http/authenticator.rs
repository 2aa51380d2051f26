//! The head of a request in, its principal out.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, StatusCode, header};
use toolwright_core::{Caller, Invoker, Prompt, RegisteredTool};

use crate::http::access_denied::AccessDenied;
use crate::http::forwarded::{ForwardedClient, TrustedProxies};
use crate::http::identity::{Identity, MAX_SUBJECT_BYTES};
use crate::http::login::Login;
use crate::http::oauth::OAuthAuthenticator;
use crate::principal::{Expiry, Principal};
use crate::scope_rules::ScopeRules;
use crate::scoped_tools::{ScopedTools, ScopedToolsCache};

mod builder;
mod configured_tokens;
mod host_check;

pub use builder::AuthenticatorBuilder;

/// Authenticates HTTP requests; cheap to clone, all clones are one authenticator.
///
/// # Examples
///
/// ```
/// # use toolwright::{Invoker, Registry, Secret};
/// # let invoker = Invoker::new(&Registry::new())?;
/// use toolwright::auth::Authenticator;
///
/// let auth = Authenticator::builder(invoker)
///     .token_for("ada", Secret::new("a-long-random-text"))
///     .allowed_hosts(["tools.example.com"])
///     .build()?;
/// assert!(!auth.allows_anonymous());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Authenticator(Arc<Inner>);

struct Inner {
    credentials: Arc<Credentials>,
    all_tools: Arc<ScopedTools>,
    scoped_tools: ScopedToolsCache,
}

/// What requests are checked against; shared by the authenticators of [`Authenticator::with_invoker`].
struct Credentials {
    login: Option<Login>,
    /// The names and issuers of the providers that people sign in with.
    providers: Vec<SignInProvider>,
    /// Empty with `oauth`; without a token, `oauth` and `login`, every request of this machine is accepted.
    tokens: configured_tokens::ConfiguredTokens,
    oauth: Option<OAuthAuthenticator>,
    rules: Arc<ScopeRules>,
    /// The claims of tokens and of people that are kept.
    kept_claims: BTreeSet<String>,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    trusted_proxies: TrustedProxies,
}

/// A provider that people sign in with: the subjects that begin with its name are its own.
struct SignInProvider {
    /// What its subjects begin with: its name and a colon.
    prefix: String,
    issuer: String,
}

/// The identity of a session that the server has opened by a cookie, in the extensions of the request it belongs to.
///
/// Accepted by an authenticator with [`sign_in`](AuthenticatorBuilder::sign_in).
#[derive(Clone, Debug)]
pub struct SessionIdentity(pub Identity);

/// The result of an authenticator, in the extensions of the request it belongs to.
#[derive(Clone)]
struct Authenticated {
    by: Authenticator,
    result: Result<Principal, AccessDenied>,
}

impl Authenticator {
    /// The path of the resource metadata for clients that do not know the path of the resource (RFC 9728).
    pub const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

    /// Starts an authenticator whose principals call the tools of `invoker`.
    pub fn builder(invoker: Invoker) -> AuthenticatorBuilder {
        AuthenticatorBuilder::new(invoker)
    }

    /// Checks host and origin of a request, then its credential, or its peer address if there are no credentials.
    ///
    /// The result is kept in the extensions of the request: where it passes several servers that share this authenticator, its
    /// token is verified once. The peer address is the [`ConnectInfo`] among the extensions.
    ///
    /// # Errors
    ///
    /// 403 for its host, origin, scopes or, without credentials, its peer address; 401 for its token; 400 where the headers are
    /// malformed; 503 while tokens cannot be verified.
    pub async fn authenticate_request(
        &self,
        request: &mut Parts,
    ) -> Result<Principal, AccessDenied> {
        let known = request.extensions.get::<Authenticated>();
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.by.0, &self.0)) {
            return known.result.clone();
        }
        let result = self.authenticate_head(request).await;
        request.extensions.insert(Authenticated { by: self.clone(), result: result.clone() });
        result
    }

    /// As [`authenticate_request`](Self::authenticate_request), for routes that monitoring programs request by the address of
    /// this machine: a request with a valid token may name any host.
    ///
    /// The check of the host is for browsers: a page cannot send a token that it does not know, and its requests have an origin
    /// or a cookie, which this does not accept without the check.
    ///
    /// # Errors
    ///
    /// As [`authenticate_request`](Self::authenticate_request).
    pub async fn authenticate_program(
        &self,
        request: &mut Parts,
    ) -> Result<Principal, AccessDenied> {
        let has = |name| request.headers.contains_key(name);
        if has(header::AUTHORIZATION)
            && !has(header::ORIGIN)
            && !has(header::COOKIE)
            && self.has_tokens()
            && let Ok(principal) = self.authenticate_token(request).await
        {
            return Ok(principal);
        }
        self.authenticate_request(request).await
    }

    /// Returns true if tokens are accepted, of the configuration or of an authorization server.
    fn has_tokens(&self) -> bool {
        self.0.credentials.oauth.is_some() || !self.0.credentials.tokens.is_empty()
    }

    async fn authenticate_head(&self, request: &Parts) -> Result<Principal, AccessDenied> {
        self.check_host_and_origin(request)?;
        if self.allows_anonymous() {
            let peer: Option<&ConnectInfo<SocketAddr>> = request.extensions.get();
            host_check::check_loopback(&request.headers, peer.map(|ConnectInfo(peer)| *peer))?;
        }
        self.authenticate(request).await
    }

    /// Returns the principal of a session, which a cookie has opened.
    ///
    /// # Errors
    ///
    /// When people cannot sign in here, the session has expired, or its scopes do not suffice.
    pub fn authenticate_session(&self, identity: Identity) -> Result<Principal, AccessDenied> {
        if self.0.credentials.providers.is_empty() {
            return Err(AccessDenied::new(StatusCode::UNAUTHORIZED, "this server has no sign-in"));
        }
        self.principal(identity)
    }

    /// Returns what [`authenticate`](Self::authenticate) needs of the head of a request: all of it if there is a login, else
    /// the `Authorization` header.
    pub fn credential_of(&self, request: &Parts) -> Parts {
        if self.0.credentials.login.is_some() {
            return request.clone();
        }
        let (mut head, ()) = Request::new(()).into_parts();
        let authorization = request.headers.get(header::AUTHORIZATION);
        head.headers.extend(authorization.map(|value| (header::AUTHORIZATION, value.clone())));
        head
    }

    /// Checks the credential of a request, and again while its connection is open; not its host, origin and peer address.
    ///
    /// # Errors
    ///
    /// When the credential is not valid, or no longer.
    pub async fn authenticate(&self, request: &Parts) -> Result<Principal, AccessDenied> {
        let credentials = &self.0.credentials;
        if let Some(SessionIdentity(identity)) = request.extensions.get() {
            return self.authenticate_session(identity.clone());
        }
        if let Some(login) = &credentials.login
            && let Some(identity) = login.identify(request).await?
        {
            return self.principal(credentials.check_subject(identity, None)?);
        }
        if credentials.has_identities() && !self.has_tokens() {
            return Err(AccessDenied::new(StatusCode::UNAUTHORIZED, "log in first"));
        }
        self.authenticate_token(request).await
    }

    /// Checks the token of a request.
    async fn authenticate_token(&self, request: &Parts) -> Result<Principal, AccessDenied> {
        let credentials = &self.0.credentials;
        if let Some(oauth) = &credentials.oauth {
            let identity = oauth.authenticate_request(&request.headers, &request.uri).await?;
            return self.principal(credentials.check_subject(identity, oauth.issuer())?);
        }
        let authorization = request.headers.get(header::AUTHORIZATION);
        let found = credentials.tokens.authenticate(authorization.map(HeaderValue::as_bytes));
        let (caller, is_personal) = found.ok_or_else(|| {
            let message = "bring the server's token: `Authorization: Bearer …`";
            let denied = AccessDenied::new(StatusCode::UNAUTHORIZED, message);
            denied.with_challenge(match authorization {
                Some(_) => r#"Bearer error="invalid_token""#,
                None => "Bearer",
            })
        })?;
        Ok(Principal::unrestricted(caller, is_personal, &self.0.all_tools))
    }

    /// Returns the principal of an identity, limited to the tools that its scopes grant under the current rules.
    fn principal(&self, identity: Identity) -> Result<Principal, AccessDenied> {
        let Credentials { oauth, rules, .. } = &*self.0.credentials;
        let unauthorized = |message| AccessDenied::new(StatusCode::UNAUTHORIZED, message);
        if identity.subject.is_empty() || identity.subject.len() > MAX_SUBJECT_BYTES {
            return Err(unauthorized("the login has no subject, or one that is too long"));
        }
        let expiry = identity.expires_at.map(|at| {
            Expiry::new(at).ok_or_else(|| unauthorized("the login has expired: log in again"))
        });
        let scopes = rules.expand_implied(identity.scopes);
        if !rules.required_scopes.is_subset(&scopes) {
            let reason = "the token lacks a scope that every request needs";
            return Err(match oauth {
                Some(oauth) => oauth.lacks_required_scope(reason),
                None => AccessDenied::new(StatusCode::FORBIDDEN, reason),
            });
        }
        let all_tools = self.0.all_tools.invoker();
        let tools = self.0.scoped_tools.get_or_build(all_tools, rules, &scopes);
        Ok(Principal {
            caller: Caller::new(identity.subject),
            scoped_tools: tools.map_err(|error| {
                tracing::error!(%error, "the tools cannot be listed");
                AccessDenied::unavailable()
            })?,
            is_identified: true,
            scopes: Some(Arc::new(scopes)),
            display_name: identity.display_name.map(Arc::from),
            roles: Arc::new(identity.roles),
            claims: Arc::new(identity.claims),
            expiry: expiry.transpose()?,
        })
    }

    /// Returns an authenticator with the same credentials whose principals call the tools of another invoker.
    #[must_use]
    pub fn with_invoker(&self, invoker: Invoker) -> Self {
        Self(Arc::new(Inner {
            credentials: Arc::clone(&self.0.credentials),
            all_tools: Arc::new(ScopedTools::unrestricted(invoker)),
            scoped_tools: ScopedToolsCache::default(),
        }))
    }

    /// Returns the operator of the server, who may use all tools: the principal of what the program itself does.
    pub fn operator(&self) -> Principal {
        Principal::unrestricted(Caller::default(), false, &self.0.all_tools)
    }

    /// Returns true if a request may be the operator's: there are no credentials, or one that several people share.
    pub fn has_operator(&self) -> bool {
        let credentials = &self.0.credentials;
        let Credentials { tokens, oauth, .. } = &**credentials;
        let has_only_identities = credentials.has_identities() && tokens.is_empty();
        oauth.is_none() && tokens.has_shared() && !has_only_identities
    }

    /// Restores a [`Principal`] without its credential, from the identity that a journal records, to finish what was begun in
    /// its name. The current scope rules apply.
    ///
    /// # Errors
    ///
    /// When the credential has expired since, or the subject is no longer known.
    pub fn restore_principal(&self, identity: Identity) -> Result<Principal, AccessDenied> {
        let credentials = &self.0.credentials;
        let Credentials { tokens, oauth, .. } = &**credentials;
        if oauth.is_some() || credentials.has_identities() {
            return self.principal(identity);
        }
        // Configured tokens have neither scopes nor an expiry: a principal that was restricted must not come back unrestricted.
        let Identity { subject, scopes, expires_at, .. } = &identity;
        let caller = tokens.find_caller(subject);
        let caller = caller.filter(|_| scopes.is_empty() && expires_at.is_none());
        let caller = caller.ok_or_else(|| {
            let message = format!("there is no caller `{subject}`");
            AccessDenied::new(StatusCode::UNAUTHORIZED, message)
        })?;
        Ok(Principal::unrestricted(caller, true, &self.0.all_tools))
    }

    /// Returns true if no credential is required, so that only requests of this machine are accepted.
    pub fn allows_anonymous(&self) -> bool {
        let credentials = &self.0.credentials;
        let Credentials { tokens, oauth, .. } = &**credentials;
        oauth.is_none() && !credentials.has_identities() && tokens.is_empty()
    }

    /// Returns true if requests can have a subject, so that people can be told apart.
    pub fn has_subjects(&self) -> bool {
        let credentials = &self.0.credentials;
        let Credentials { tokens, oauth, .. } = &**credentials;
        oauth.is_some() || credentials.has_identities() || tokens.has_personal()
    }

    /// Returns sentences for the operator about scopes that grant no tool and no prompt now.
    pub fn scope_warnings(&self) -> Vec<String> {
        let Ok(snapshot) = self.0.all_tools.invoker().snapshot() else { return Vec::new() };
        let tools = snapshot.iter().map(RegisteredTool::spec);
        let all = tools.chain(snapshot.prompts().map(Prompt::spec));
        let empty = self.0.credentials.rules.empty_scopes(all).into_iter();
        empty.map(|scope| format!("the scope `{scope}` grants no tool")).collect()
    }

    /// Returns the claims that are kept of tokens and of people who sign in.
    pub fn kept_claims(&self) -> &BTreeSet<String> {
        &self.0.credentials.kept_claims
    }

    /// Returns true if there are configured tokens.
    pub fn accepts_configured_tokens(&self) -> bool {
        !self.0.credentials.tokens.is_empty()
    }

    /// Returns true if requests for other hosts than this machine are accepted.
    pub fn serves_other_hosts(&self) -> bool {
        host_check::has_other_hosts(&self.0.credentials)
    }

    /// Returns the client of a request: its peer or, if that is a trusted proxy, what the proxy says.
    pub fn client_of<'r>(&self, request: &'r Parts) -> ForwardedClient<'r> {
        self.0.credentials.trusted_proxies.client_of(&request.headers, &request.extensions)
    }

    /// Returns all tools, without the limits of any scope.
    pub fn all_tools(&self) -> &Arc<ScopedTools> {
        &self.0.all_tools
    }

    /// Returns the `WWW-Authenticate` header for a token that lacks `scope`; `None` without OAuth.
    pub fn insufficient_scope(&self, scope: &str) -> Option<HeaderValue> {
        let challenge = self.0.credentials.oauth.as_ref()?.insufficient_scope_challenge(scope);
        HeaderValue::from_str(&challenge).ok()
    }

    /// Returns the metadata of the protected resource (RFC 9728) if `path` is one of its addresses; always `None` without OAuth.
    pub fn resource_metadata(&self, path: &str) -> Option<&[u8]> {
        self.0.credentials.oauth.as_ref()?.metadata_at(path)
    }
}

impl Credentials {
    /// Returns true if requests can have the identity of a login or of a session.
    fn has_identities(&self) -> bool {
        self.login.is_some() || !self.providers.is_empty()
    }

    /// Keeps subjects of other sources apart from those of people who have signed in.
    ///
    /// A token of a provider's issuer has the subject of the provider, so that a person is the same by token and by session. Any
    /// other subject that looks like a provider's is rejected.
    fn check_subject(
        &self,
        mut identity: Identity,
        issuer: Option<&str>,
    ) -> Result<Identity, AccessDenied> {
        let mut providers = self.providers.iter();
        if let Some(own) = providers.find(|own| Some(&*own.issuer) == issuer) {
            identity.subject = format!("{}{}", own.prefix, identity.subject);
            return Ok(identity);
        }
        let is_foreign = |other: &SignInProvider| identity.subject.starts_with(&other.prefix);
        if self.providers.iter().any(is_foreign) {
            let message = "this subject is one of a sign-in provider, which has not named it";
            return Err(AccessDenied::new(StatusCode::UNAUTHORIZED, message));
        }
        Ok(identity)
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator")
            .field("allows_anonymous", &self.allows_anonymous())
            .field("allowed_hosts", &self.0.credentials.allowed_hosts)
            .field("allowed_origins", &self.0.credentials.allowed_origins)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use toolwright_core::{Registry, Secret};

    use super::*;
    use crate::{Claims, ResourceServer, VerifyError};

    const RESOURCE: &str = "http://localhost/mcp";

    fn authenticator(subject: &'static str, verified: &Arc<AtomicUsize>) -> Authenticator {
        let verified = Arc::clone(verified);
        let verify = move |_: Secret| {
            verified.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok::<_, VerifyError>(Claims::new(subject, [RESOURCE])))
        };
        let oauth = ResourceServer::new(RESOURCE, verify).authorization_server(RESOURCE);
        let invoker = Invoker::new(Registry::new()).unwrap();
        Authenticator::builder(invoker).oauth(oauth).build().unwrap()
    }

    #[tokio::test]
    async fn a_request_is_verified_once_by_each_authenticator_that_it_passes() {
        let verified = Arc::default();
        let (ada, bob) = (authenticator("ada", &verified), authenticator("bob", &verified));
        let request = Request::get("/")
            .header(header::HOST, "localhost")
            .header(header::AUTHORIZATION, "Bearer a-token");
        let (mut head, ()) = request.body(()).unwrap().into_parts();
        for (auth, subject, count) in [(&ada, "ada", 1), (&ada.clone(), "ada", 1), (&bob, "bob", 2)]
        {
            let principal = auth.authenticate_request(&mut head).await.unwrap();
            assert_eq!(principal.subject(), Some(subject));
            assert_eq!(verified.load(Ordering::Relaxed), count);
        }
    }
}
