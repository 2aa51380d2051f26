//! A token in, a cookie out that stands for it: for pages, which cannot send headers with every request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use tokio::time::{Instant, sleep_until};
use toolwright_chat::Owner;
use toolwright_core::CancellationToken;

use crate::endpoint::random;
use crate::problem::Problem;

/// What the cookie is called.
const NAME: &str = "toolwright_pass";

/// How long it is good for.
const LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// How many there are at once.
const MOST: usize = 8192;

/// How many the operator has, who may be many people with one token.
const MOST_OF_OPERATOR: usize = 1024;

/// How many a subject has: one for each browser.
const MOST_OF_SUBJECT: usize = 16;

/// The passes that were given out; none outlives the process.
#[derive(Default)]
pub(crate) struct Passes(Mutex<HashMap<String, Pass>>);

struct Pass {
    owner: Owner,
    /// The header that it stands for.
    authorization: HeaderValue,
    session: CookieSession,
}

/// The time that a cookie is good for; cheap to clone.
#[derive(Clone)]
pub(crate) struct CookieSession {
    until: Instant,
    ended: CancellationToken,
}

impl CookieSession {
    /// Returns true if the cookie has expired or was given back.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_cancelled() || self.until <= Instant::now()
    }

    /// Waits until the cookie expires or is given back.
    pub(crate) async fn over(&self) {
        tokio::select! {
            () = self.ended.cancelled() => {}
            () = sleep_until(self.until) => {}
        }
    }
}

impl Passes {
    /// Gives out a pass, as the cookie that carries it; the oldest of an owner that has too many ends.
    pub(crate) fn give(
        &self,
        owner: Owner,
        mut authorization: HeaderValue,
    ) -> Result<String, Problem> {
        authorization.set_sensitive(true);
        let name = format!("{}{}", random()?, random()?);
        let now = Instant::now();
        let mut passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        passes.retain(|_, pass| pass.session.until > now);
        let own = passes.iter().filter(|(_, pass)| pass.owner == owner);
        let most = match &owner {
            Owner::Operator => MOST_OF_OPERATOR,
            _ => MOST_OF_SUBJECT,
        };
        if own.clone().count() >= most {
            let oldest = own.min_by_key(|(_, pass)| pass.session.until);
            let oldest = oldest.map(|(name, _)| name.clone());
            let oldest = oldest.and_then(|name| passes.remove(&name));
            if let Some(oldest) = oldest {
                oldest.session.ended.cancel();
            }
        }
        if passes.len() >= MOST {
            return Err(Problem::busy(
                "too many people are signed in: try again later",
            ));
        }
        let session = CookieSession {
            until: now + LIFE,
            ended: CancellationToken::new(),
        };
        passes.insert(
            name.clone(),
            Pass {
                owner,
                authorization,
                session,
            },
        );
        Ok(cookie(&name, LIFE))
    }

    /// Takes a pass back, and returns the cookie that says so.
    pub(crate) fn take(&self, headers: &HeaderMap) -> String {
        if let Some(name) = brought(headers) {
            let mut passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(pass) = passes.remove(name) {
                pass.session.ended.cancel();
            }
        }
        cookie("", Duration::ZERO)
    }

    /// Puts what a pass stands for in its place, unless the request says itself who sends it; returns the session if it did.
    pub(crate) fn show(&self, headers: &mut HeaderMap) -> Option<CookieSession> {
        if headers.contains_key(header::AUTHORIZATION) {
            return None;
        }
        let name = brought(headers)?;
        let (authorization, session) = {
            let passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let pass = passes.get(name).filter(|pass| !pass.session.is_over())?;
            (pass.authorization.clone(), pass.session.clone())
        };
        headers.insert(header::AUTHORIZATION, authorization);
        Some(session)
    }
}

fn cookie(value: &str, life: Duration) -> String {
    let seconds = life.as_secs();
    format!("{NAME}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}")
}

/// The pass that a request brings.
fn brought(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))
}
