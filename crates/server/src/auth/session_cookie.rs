//! Cookie sessions: a cookie stands for a token or for a person who has signed in, because pages cannot send headers with every
//! request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use tokio::time::{Instant, sleep_until};
use toolwright_auth::{Identity, SessionIdentity, SignIn, SignInOutcome};
use toolwright_chat::Owner;
use toolwright_core::{CancellationToken, SharedState, SharedStateError};

use super::cookie_rotation::RotationTimes;
use super::login_sessions::{
    FoundSession, LoginSessions, OpenedSession, SESSION_LIFETIME, StoredCredential,
};
use super::session_credential::{ProviderCredential, SessionCredential};
use super::session_renewal::{self, Renewal};
use super::session_seal::{CookieValue, SealKey};
use crate::http::cookie::{SameSite, SetCookie, cookie_named};
use crate::http::error_response::ErrorResponse;
use crate::http::limits::ServerLimits;

/// The name of the cookie.
const COOKIE_NAME: &str = "toolwright_pass";

/// The maximum number of sessions in the memory of this process.
const MAX_CACHED_SESSIONS: usize = 8192;

/// The sessions of all nodes, and a cache of those that this node has seen.
pub(crate) struct CookieSessions {
    stored: LoginSessions,
    sign_in: Arc<SignIn>,
    /// How long a session counts as valid after it was read.
    check_interval: Duration,
    rotation: RotationTimes,
    /// Whether browsers send cookies over `https` only.
    is_secure: bool,
    cache: Mutex<HashMap<String, CachedSession>>,
}

struct CachedSession {
    /// Digests of the cookies that have opened it, and when.
    opened_by: Vec<([u8; 32], Instant)>,
    session: CookieSession,
}

/// A cookie session, which may end at any node; cheap to clone.
#[derive(Clone)]
pub(crate) struct CookieSession(pub(super) Arc<SessionStatus>);

pub(super) struct SessionStatus {
    pub(super) stored: LoginSessions,
    pub(super) sign_in: Arc<SignIn>,
    /// The id of the session, and the key of its credential.
    pub(super) id: String,
    pub(super) key: SealKey,
    check_interval: Duration,
    expires_at: Instant,
    pub(super) revoked: CancellationToken,
    /// What it stands for, as it was last read or written.
    credential: Mutex<StoredCredential>,
    /// When it was last read. Locked while it is read, so that many connections of a session read it once.
    checks: tokio::sync::Mutex<SessionChecks>,
}

struct SessionChecks {
    checked_at: Instant,
    /// The pause after tokens could not be renewed.
    no_renewal_before: Option<Instant>,
}

/// Why a session cannot be checked now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error(transparent)]
    State(#[from] SharedStateError),
    /// The tokens have expired, and the provider cannot be reached.
    #[error("the sign-in provider cannot be reached: try again")]
    ProviderAway,
}

/// The session of a request, and the `Set-Cookie` value of the response if the cookie is replaced.
pub(crate) struct RequestSession {
    pub(crate) session: CookieSession,
    pub(crate) set_cookie: Option<HeaderValue>,
}

/// A session that a request has ended.
pub(crate) struct EndedSession {
    /// The `Set-Cookie` value that removes the cookie.
    pub(crate) set_cookie: HeaderValue,
    /// The credential, if the person has signed in with a provider.
    pub(super) signed_in: Option<Box<ProviderCredential>>,
}

impl CookieSession {
    /// Returns false if the session has expired or was ended; reads it again if it was not read recently, and renews the tokens
    /// of a provider if that is due.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read, or the provider does not vouch for the person now.
    pub(crate) async fn is_valid(&self) -> Result<bool, SessionError> {
        let status = &*self.0;
        let mut checks = status.checks.lock().await;
        if self.has_ended() {
            return Ok(false);
        }
        if checks.checked_at.elapsed() >= status.check_interval {
            let known = self.0.credential();
            match status.stored.read_credential(&status.id, &status.key, &known).await? {
                None => return Ok(self.revoke()),
                Some(read) => self.0.set_credential(read),
            }
            checks.checked_at = Instant::now();
        }
        let is_paused = checks.no_renewal_before.is_some_and(|at| Instant::now() < at);
        match session_renewal::renew_if_due(&self.0, is_paused).await? {
            Renewal::Valid => Ok(true),
            Renewal::Postponed => {
                checks.no_renewal_before = Some(Instant::now() + session_renewal::RETRY_DELAY);
                Ok(true)
            }
            Renewal::Ended => Ok(self.revoke()),
        }
    }

    /// Waits until the session expires or is ended, at this node or another one.
    pub(crate) async fn wait_expired(&self) {
        let status = &*self.0;
        loop {
            let next_check = Instant::now() + status.check_interval;
            tokio::select! {
                () = status.revoked.cancelled() => return,
                () = sleep_until(status.expires_at.min(next_check)) => {}
            }
            match self.is_valid().await {
                Ok(true) => {}
                Ok(false) => return,
                // Not known to have ended: the connection stays open until it has.
                Err(_) if self.has_ended() => return,
                Err(error) => tracing::debug!(%error, "a session cannot be checked now"),
            }
        }
    }

    /// The person who has signed in, with their current roles and scopes; `None` if the session stands for a token.
    pub(crate) fn identity(&self) -> Option<Identity> {
        match &*self.0.credential().credential {
            SessionCredential::Authorization(_) => None,
            SessionCredential::Provider(person) => Some(person.identity()),
        }
    }

    /// The id of the session.
    pub(crate) fn id(&self) -> &str {
        &self.0.id
    }

    fn has_ended(&self) -> bool {
        self.0.revoked.is_cancelled() || self.0.expires_at <= Instant::now()
    }

    /// Ends its connections; returns false.
    fn revoke(&self) -> bool {
        self.0.revoked.cancel();
        false
    }
}

impl SessionStatus {
    pub(super) fn credential(&self) -> StoredCredential {
        self.credential.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_credential(&self, credential: StoredCredential) {
        *self.credential.lock().unwrap_or_else(PoisonError::into_inner) = credential;
    }
}

impl CookieSessions {
    pub(crate) fn new(
        state: &Arc<dyn SharedState>,
        sign_in: &Arc<SignIn>,
        limits: &ServerLimits,
        is_secure: bool,
    ) -> Self {
        let rotation = RotationTimes {
            interval: limits.session_rotation_interval,
            grace: limits.session_rotation_grace,
        };
        Self {
            stored: LoginSessions::new(Arc::clone(state)),
            sign_in: Arc::clone(sign_in),
            check_interval: limits.session_check_interval,
            rotation,
            is_secure,
            cache: Mutex::default(),
        }
    }

    /// The stored sessions of all nodes.
    pub(crate) fn stored(&self) -> &LoginSessions {
        &self.stored
    }

    /// Starts a session that stands for a token, and returns its `Set-Cookie` header; ends the owner's oldest
    /// session if there are too many.
    pub(crate) async fn issue(
        &self,
        owner: &Owner,
        authorization: HeaderValue,
        path: &str,
    ) -> Result<HeaderValue, ErrorResponse> {
        let cookie = self.stored.begin(owner, &authorization, path).await?;
        self.end_excess(owner, &cookie).await?;
        self.set_cookie_header(&cookie, path, SESSION_LIFETIME)
    }

    /// Starts the session of a person who has signed in, likewise.
    pub(crate) async fn issue_signed_in(
        &self,
        provider: &str,
        signed_in: SignInOutcome,
        path: &str,
    ) -> Result<HeaderValue, ErrorResponse> {
        let owner = Owner::Subject(signed_in.identity.subject.clone());
        let cookie = self.stored.begin_signed_in(provider, signed_in, path).await?;
        self.end_excess(&owner, &cookie).await?;
        self.set_cookie_header(&cookie, path, SESSION_LIFETIME)
    }

    async fn end_excess(&self, owner: &Owner, cookie: &str) -> Result<(), SharedStateError> {
        if let Some(new) = CookieValue::parse(cookie) {
            for id in self.stored.excess(owner, &new).await? {
                self.end(&id).await?;
            }
        }
        Ok(())
    }

    /// Ends the session of a request.
    pub(crate) async fn revoke(
        &self,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<EndedSession, ErrorResponse> {
        let mut signed_in = None;
        if let Some(cookie) = cookie_named(headers, COOKIE_NAME).and_then(CookieValue::parse)
            // Only with its secret: an id alone ends no session.
            && let FoundSession::Opened(opened) =
                self.stored.open(&cookie, self.rotation, false).await?
        {
            if let SessionCredential::Provider(person) = &*opened.stored.credential {
                signed_in = Some(person.clone());
            }
            self.end(&cookie.key()).await?;
        }
        let set_cookie = self.set_cookie_header("", path, Duration::ZERO)?;
        Ok(EndedSession { set_cookie, signed_in })
    }

    /// Inserts what the cookie of a request stands for, unless the request has a header for that: the `Authorization` header of
    /// a token, or the identity of a person. Replaces the cookie if that is due and `may_rotate`.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read, or the provider does not vouch for the person now.
    pub(crate) async fn insert_authorization<B>(
        &self,
        request: &mut Request<B>,
        may_rotate: bool,
    ) -> Result<Option<RequestSession>, SessionError> {
        let headers = request.headers();
        if headers.contains_key(header::AUTHORIZATION) {
            return Ok(None);
        }
        let Some(cookie) = cookie_named(headers, COOKIE_NAME).and_then(CookieValue::parse) else {
            return Ok(None);
        };
        let Some(found) = self.find(&cookie, may_rotate).await? else {
            return Ok(None);
        };
        match &*found.session.0.credential().credential {
            SessionCredential::Authorization(authorization) => {
                request.headers_mut().insert(header::AUTHORIZATION, authorization.clone());
            }
            SessionCredential::Provider(person) => {
                request.extensions_mut().insert(SessionIdentity(person.identity()));
            }
        }
        Ok(Some(found))
    }

    /// Finds a session that has not ended: in the cache, else in the shared state.
    async fn find(
        &self,
        cookie: &CookieValue<'_>,
        may_rotate: bool,
    ) -> Result<Option<RequestSession>, SessionError> {
        let (id, digest) = (cookie.key(), cookie.digest());
        if let Some(session) = self.find_cached(&id, &digest) {
            let is_valid = session.is_valid().await?;
            return Ok(is_valid.then_some(RequestSession { session, set_cookie: None }));
        }
        let opened = match self.stored.open(cookie, self.rotation, may_rotate).await? {
            FoundSession::Opened(opened) => *opened,
            FoundSession::Replaced => {
                let message =
                    "a session has ended: a cookie was used that its owner does not have any more";
                tracing::warn!(session = id, "{message}");
                self.end(&id).await?;
                return Ok(None);
            }
            FoundSession::Unknown => return Ok(None),
        };
        let set_cookie = opened.new_cookie.as_ref().and_then(|(value, path)| {
            // Cannot fail: the cookie of the login had this path.
            self.set_cookie_header(value, path, opened.expires_in).ok()
        });
        let session = self.add_to_cache(id, digest, opened);
        let is_valid = session.is_valid().await?;
        Ok(is_valid.then_some(RequestSession { session, set_cookie }))
    }

    /// The session that this cookie has opened recently.
    fn find_cached(&self, id: &str, digest: &[u8; 32]) -> Option<CookieSession> {
        let cache = self.cache();
        let cached = cache.get(id)?;
        let mut opened_by = cached.opened_by.iter();
        let recently =
            opened_by.any(|(other, at)| other == digest && at.elapsed() < self.check_interval);
        recently.then(|| cached.session.clone())
    }

    fn add_to_cache(&self, id: String, digest: [u8; 32], opened: OpenedSession) -> CookieSession {
        let OpenedSession { stored, key, expires_in, .. } = opened;
        let now = Instant::now();
        let mut cache = self.cache();
        if cache.len() >= MAX_CACHED_SESSIONS {
            cache.retain(|_, cached| !cached.session.has_ended());
        }
        if cache.len() >= MAX_CACHED_SESSIONS {
            cache.clear();
        }
        // Other requests of the same page, and its connections, share one status.
        let cached = cache.entry(id.clone()).or_insert_with(|| {
            let status = SessionStatus {
                stored: self.stored.clone(),
                sign_in: Arc::clone(&self.sign_in),
                id,
                key,
                check_interval: self.check_interval,
                expires_at: now + expires_in,
                revoked: CancellationToken::new(),
                credential: Mutex::new(stored.clone()),
                checks: tokio::sync::Mutex::new(SessionChecks {
                    checked_at: now,
                    no_renewal_before: None,
                }),
            };
            CachedSession { opened_by: Vec::new(), session: CookieSession(Arc::new(status)) }
        });
        cached.session.0.set_credential(stored);
        cached
            .opened_by
            .retain(|(other, at)| *other != digest && at.elapsed() < self.check_interval);
        cached.opened_by.push((digest, now));
        cached.session.clone()
    }

    /// Ends a session, and its connections to this node at once; returns false if there is none.
    pub(crate) async fn end(&self, id: &str) -> Result<bool, SharedStateError> {
        let ended = self.stored.end(id).await?;
        if let Some(cached) = self.cache().remove(id) {
            cached.session.revoke();
        }
        Ok(ended)
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<String, CachedSession>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_cookie_header(
        &self,
        value: &str,
        path: &str,
        lifetime: Duration,
    ) -> Result<HeaderValue, ErrorResponse> {
        let (name, same_site, is_secure) = (COOKIE_NAME, SameSite::Strict, self.is_secure);
        SetCookie { name, value, path, same_site, lifetime, is_secure }.to_header()
    }
}
