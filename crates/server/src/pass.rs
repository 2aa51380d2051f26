//! A token in, a cookie out that stands for it: for pages, which cannot send headers with every request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, header};
use toolwright_chat::StoreError;

use crate::endpoint::random;

/// What the cookie is called.
const NAME: &str = "toolwright_pass";

/// How long it is good for.
const LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// How many there are at once.
const MOST: usize = 1024;

/// The passes that were given out; none outlives the process.
#[derive(Default)]
pub(crate) struct Passes(Mutex<HashMap<String, Pass>>);

struct Pass {
    /// The header that it stands for.
    authorization: HeaderValue,
    until: Instant,
}

impl Passes {
    /// Gives out a pass, as the cookie that carries it.
    pub(crate) fn give(&self, mut authorization: HeaderValue) -> Result<String, StoreError> {
        authorization.set_sensitive(true);
        let name = format!("{}{}", random()?, random()?);
        let now = Instant::now();
        let mut passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        passes.retain(|_, pass| pass.until > now);
        if passes.len() >= MOST {
            let oldest = passes.iter().min_by_key(|(_, pass)| pass.until);
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.map(|name| passes.remove(&name));
        }
        let until = now + LIFE;
        passes.insert(
            name.clone(),
            Pass {
                authorization,
                until,
            },
        );
        Ok(cookie(&name, LIFE))
    }

    /// Takes a pass back, and returns the cookie that says so.
    pub(crate) fn take(&self, headers: &HeaderMap) -> String {
        if let Some(name) = brought(headers) {
            let mut passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            passes.remove(name);
        }
        cookie("", Duration::ZERO)
    }

    /// Puts what a pass stands for in its place, unless the request says itself who sends it.
    pub(crate) fn show(&self, headers: &mut HeaderMap) {
        if headers.contains_key(header::AUTHORIZATION) {
            return;
        }
        let Some(name) = brought(headers) else { return };
        let stands_for = {
            let passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let pass = passes.get(name).filter(|pass| pass.until > Instant::now());
            pass.map(|pass| pass.authorization.clone())
        };
        if let Some(authorization) = stands_for {
            headers.insert(header::AUTHORIZATION, authorization);
        }
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
