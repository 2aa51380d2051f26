//! A token in, a cookie out that stands for it: for pages, which cannot send headers with every request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use tokio::time::{Instant, sleep_until};
use toolwright_chat::Owner;
use toolwright_core::CancellationToken;

use crate::endpoint::random_id;
use crate::http::error_response::ErrorResponse;

/// What the cookie is called.
const COOKIE_NAME: &str = "toolwright_pass";

/// How long it is good for.
const COOKIE_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// How many there are at once.
const MAX_SESSIONS: usize = 8192;

/// How many the operator has, who may be many people with one token.
const MAX_OPERATOR_SESSIONS: usize = 1024;

/// How many a subject has: one for each browser.
const MAX_SUBJECT_SESSIONS: usize = 16;

/// The passes that were given out; none outlives the process.
#[derive(Default)]
pub(crate) struct CookieSessions(Mutex<HashMap<String, StoredSession>>);

struct StoredSession {
    owner: Owner,
    /// The header that it stands for.
    authorization: HeaderValue,
    cookie_session: CookieSession,
}

/// The time that a cookie is good for; cheap to clone.
#[derive(Clone)]
pub(crate) struct CookieSession {
    expires_at: Instant,
    revoked: CancellationToken,
}

impl CookieSession {
    /// Returns true if the cookie has expired or was given back.
    pub(crate) fn is_expired(&self) -> bool {
        self.revoked.is_cancelled() || self.expires_at <= Instant::now()
    }

    /// Waits until the cookie expires or is given back.
    pub(crate) async fn wait_expired(&self) {
        tokio::select! {
            () = self.revoked.cancelled() => {}
            () = sleep_until(self.expires_at) => {}
        }
    }
}

impl CookieSessions {
    /// Gives out a pass, as the cookie that carries it; the oldest of an owner that has too many ends.
    pub(crate) fn issue(
        &self,
        owner: Owner,
        mut authorization: HeaderValue,
    ) -> Result<String, ErrorResponse> {
        authorization.set_sensitive(true);
        let name = format!("{}{}", random_id()?, random_id()?);
        let now = Instant::now();
        let mut passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        passes.retain(|_, pass| pass.cookie_session.expires_at > now);
        let own = passes.iter().filter(|(_, pass)| pass.owner == owner);
        let most = match &owner {
            Owner::Operator => MAX_OPERATOR_SESSIONS,
            _ => MAX_SUBJECT_SESSIONS,
        };
        if own.clone().count() >= most {
            let oldest = own.min_by_key(|(_, pass)| pass.cookie_session.expires_at);
            let oldest = oldest.map(|(name, _)| name.clone());
            let oldest = oldest.and_then(|name| passes.remove(&name));
            if let Some(oldest) = oldest {
                oldest.cookie_session.revoked.cancel();
            }
        }
        if passes.len() >= MAX_SESSIONS {
            return Err(ErrorResponse::too_many_requests(
                "too many people are signed in: try again later",
            ));
        }
        let session = CookieSession {
            expires_at: now + COOKIE_LIFETIME,
            revoked: CancellationToken::new(),
        };
        passes.insert(
            name.clone(),
            StoredSession {
                owner,
                authorization,
                cookie_session: session,
            },
        );
        Ok(set_cookie_value(&name, COOKIE_LIFETIME))
    }

    /// Takes a pass back, and returns the cookie that says so.
    pub(crate) fn revoke(&self, headers: &HeaderMap) -> String {
        if let Some(name) = session_cookie(headers) {
            let mut passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(pass) = passes.remove(name) {
                pass.cookie_session.revoked.cancel();
            }
        }
        set_cookie_value("", Duration::ZERO)
    }

    /// Puts what a pass stands for in its place, unless the request says itself who sends it; returns the session if it did.
    pub(crate) fn insert_authorization(&self, headers: &mut HeaderMap) -> Option<CookieSession> {
        if headers.contains_key(header::AUTHORIZATION) {
            return None;
        }
        let name = session_cookie(headers)?;
        let (authorization, session) = {
            let passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let pass = passes
                .get(name)
                .filter(|pass| !pass.cookie_session.is_expired())?;
            (pass.authorization.clone(), pass.cookie_session.clone())
        };
        headers.insert(header::AUTHORIZATION, authorization);
        Some(session)
    }
}

fn set_cookie_value(value: &str, life: Duration) -> String {
    let seconds = life.as_secs();
    format!("{COOKIE_NAME}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}")
}

/// The pass that a request brings.
fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}
