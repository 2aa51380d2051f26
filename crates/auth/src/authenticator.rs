//! The head of a request in, its principal out.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use toolwright_core::{Caller, Invoker};

use crate::access_denied::AccessDenied;
use crate::oauth::OAuthAuthenticator;
use crate::principal::Principal;
use crate::scoped_tools::ScopedTools;

mod builder;
mod configured_tokens;
mod host_check;

pub use builder::AuthenticatorBuilder;

/// Authenticates HTTP requests; cheap to clone, all clones are one authenticator.
///
/// # Examples
///
/// ```
/// # use toolwright_core::{Invoker, Registry, Secret};
/// # let invoker = Invoker::new(&Registry::new())?;
/// use toolwright_auth::Authenticator;
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
    all_tools: Arc<ScopedTools>,
    /// Empty with `oauth`; without either, every request of this machine is accepted.
    tokens: configured_tokens::ConfiguredTokens,
    oauth: Option<OAuthAuthenticator>,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
}

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

    async fn authenticate_head(&self, request: &Parts) -> Result<Principal, AccessDenied> {
        self.check_host_and_origin(&request.headers, &request.uri)?;
        if self.allows_anonymous() {
            let peer: Option<&ConnectInfo<SocketAddr>> = request.extensions.get();
            host_check::check_loopback(&request.headers, peer.map(|ConnectInfo(peer)| *peer))?;
        }
        self.authenticate_headers(&request.headers, &request.uri).await
    }

    /// Checks the credential of an open connection again, by the `Authorization` header that it was opened with.
    ///
    /// # Errors
    ///
    /// When the credential is no longer valid.
    pub async fn authenticate(
        &self,
        authorization: Option<&HeaderValue>,
    ) -> Result<Principal, AccessDenied> {
        let headers = authorization.map(|value| (header::AUTHORIZATION, value.clone()));
        let headers = HeaderMap::from_iter(headers);
        self.authenticate_headers(&headers, &Uri::from_static("/")).await
    }

    async fn authenticate_headers(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Principal, AccessDenied> {
        if let Some(oauth) = &self.0.oauth {
            return oauth.authenticate_request(headers, uri).await;
        }
        let authorization = headers.get(header::AUTHORIZATION);
        let found = self.0.tokens.authenticate(authorization.map(HeaderValue::as_bytes));
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

    /// Returns the operator of the server, who may use all tools: the principal of what the program itself does.
    pub fn operator(&self) -> Principal {
        Principal::unrestricted(Caller::default(), false, &self.0.all_tools)
    }

    /// Returns true if a request may be the operator's: there are no credentials, or one that several people share.
    pub fn has_operator(&self) -> bool {
        self.0.oauth.is_none() && self.0.tokens.has_shared()
    }

    /// Restores a [`Principal`] without its credential, from its subject, scopes and expiry, to finish what was begun in its
    /// name. The current scope rules apply.
    ///
    /// # Errors
    ///
    /// When the credential has expired since, or the subject is no longer known.
    pub fn restore_principal(
        &self,
        subject: &str,
        scopes: impl IntoIterator<Item = String>,
        expires_at: Option<SystemTime>,
    ) -> Result<Principal, AccessDenied> {
        let scopes: BTreeSet<String> = scopes.into_iter().collect();
        let Some(oauth) = &self.0.oauth else {
            // Configured tokens have neither scopes nor an expiry: a principal that was restricted must not come back unrestricted.
            let caller = self.0.tokens.find_caller(subject);
            let caller = caller.filter(|_| scopes.is_empty() && expires_at.is_none());
            let caller = caller.ok_or_else(|| {
                let message = format!("there is no caller `{subject}`");
                AccessDenied::new(StatusCode::UNAUTHORIZED, message)
            })?;
            return Ok(Principal::unrestricted(caller, true, &self.0.all_tools));
        };
        oauth.restore(subject.to_owned(), scopes, expires_at)
    }

    /// Returns true if no credential is required, so that only requests of this machine are accepted.
    pub fn allows_anonymous(&self) -> bool {
        self.0.oauth.is_none() && self.0.tokens.is_empty()
    }

    /// Returns all tools, without the limits of any scope.
    pub fn all_tools(&self) -> &Arc<ScopedTools> {
        &self.0.all_tools
    }

    /// Returns the `WWW-Authenticate` header for a token that lacks `scope`; `None` without OAuth.
    pub fn insufficient_scope(&self, scope: &str) -> Option<HeaderValue> {
        let challenge = self.0.oauth.as_ref()?.insufficient_scope_challenge(scope);
        HeaderValue::from_str(&challenge).ok()
    }

    /// Returns the metadata of the protected resource (RFC 9728) if `path` is one of its addresses; always `None` without OAuth.
    pub fn resource_metadata(&self, path: &str) -> Option<&[u8]> {
        self.0.oauth.as_ref()?.metadata_at(path)
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator")
            .field("allows_anonymous", &self.allows_anonymous())
            .field("allowed_hosts", &self.0.allowed_hosts)
            .field("allowed_origins", &self.0.allowed_origins)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::http::Request;
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
