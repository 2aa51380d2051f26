//! Cookie sessions: a cookie stands for a token, because pages cannot send headers with every request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use tokio::time::{Instant, sleep_until};
use toolwright_chat::Owner;
use toolwright_core::CancellationToken;

use crate::endpoint::random_id;
use crate::http::error_response::ErrorResponse;

/// The name of the cookie.
const COOKIE_NAME: &str = "toolwright_pass";

/// The lifetime of a session.
const COOKIE_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The maximum number of sessions.
const MAX_SESSIONS: usize = 8192;

/// The maximum for the operator, whose token several people may share.
const MAX_OPERATOR_SESSIONS: usize = 1024;

/// The maximum for a subject: one session per browser.
const MAX_SUBJECT_SESSIONS: usize = 16;

/// The sessions of this process; not stored.
#[derive(Default)]
pub(crate) struct CookieSessions(Mutex<HashMap<String, StoredSession>>);

struct StoredSession {
    owner: Owner,
    /// The `Authorization` header that the cookie stands for.
    authorization: HeaderValue,
    cookie_session: CookieSession,
}

/// The lifetime of a cookie session; cheap to clone.
#[derive(Clone)]
pub(crate) struct CookieSession {
    expires_at: Instant,
    revoked: CancellationToken,
}

impl CookieSession {
    /// Returns true if the session has expired or was ended.
    pub(crate) fn is_expired(&self) -> bool {
        self.revoked.is_cancelled() || self.expires_at <= Instant::now()
    }

    /// Waits until the session expires or is ended.
    pub(crate) async fn wait_expired(&self) {
        tokio::select! {
            () = self.revoked.cancelled() => {}
            () = sleep_until(self.expires_at) => {}
        }
    }
}

impl CookieSessions {
    /// Starts a session and returns the value of its `Set-Cookie` header; ends the owner's oldest session if there are too
    /// many.
    pub(crate) fn issue(
        &self,
        owner: Owner,
        mut authorization: HeaderValue,
    ) -> Result<String, ErrorResponse> {
        authorization.set_sensitive(true);
        let name = format!("{}{}", random_id()?, random_id()?);
        let now = Instant::now();
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, stored| stored.cookie_session.expires_at > now);
        let own = sessions.iter().filter(|(_, stored)| stored.owner == owner);
        let max = match &owner {
            Owner::Operator => MAX_OPERATOR_SESSIONS,
            _ => MAX_SUBJECT_SESSIONS,
        };
        if own.clone().count() >= max {
            let oldest = own.min_by_key(|(_, stored)| stored.cookie_session.expires_at);
            let oldest = oldest.map(|(name, _)| name.clone());
            let oldest = oldest.and_then(|name| sessions.remove(&name));
            if let Some(oldest) = oldest {
                oldest.cookie_session.revoked.cancel();
            }
        }
        if sessions.len() >= MAX_SESSIONS {
            return Err(ErrorResponse::too_many_requests(
                "too many people are signed in: try again later",
            ));
        }
        let session =
            CookieSession { expires_at: now + COOKIE_LIFETIME, revoked: CancellationToken::new() };
        sessions
            .insert(name.clone(), StoredSession { owner, authorization, cookie_session: session });
        Ok(set_cookie_value(&name, COOKIE_LIFETIME))
    }

    /// Ends the session of a request, and returns the `Set-Cookie` value that removes the cookie.
    pub(crate) fn revoke(&self, headers: &HeaderMap) -> String {
        if let Some(name) = session_cookie(headers) {
            let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(stored) = sessions.remove(name) {
                stored.cookie_session.revoked.cancel();
            }
        }
        set_cookie_value("", Duration::ZERO)
    }

    /// Inserts the `Authorization` header of the cookie's session, unless the request has one; returns the session if it
    /// did.
    pub(crate) fn insert_authorization(&self, headers: &mut HeaderMap) -> Option<CookieSession> {
        if headers.contains_key(header::AUTHORIZATION) {
            return None;
        }
        let name = session_cookie(headers)?;
        let (authorization, session) = {
            let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let stored = sessions.get(name).filter(|stored| !stored.cookie_session.is_expired())?;
            (stored.authorization.clone(), stored.cookie_session.clone())
        };
        headers.insert(header::AUTHORIZATION, authorization);
        Some(session)
    }
}

fn set_cookie_value(value: &str, life: Duration) -> String {
    let seconds = life.as_secs();
    format!("{COOKIE_NAME}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}")
}

/// The session cookie of a request.
fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut pairs = all.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}
