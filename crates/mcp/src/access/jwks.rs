//! A signed token in, its claims out, by keys that its issuer publishes.
//!
//! Written on ring, which TLS brings anyway: the crates for this choose their cryptography for the whole process, and
//! none of the choices is ring.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use serde_json::Value;
use toolwright_core::Secret;

use self::fetch::Source;
use self::key::Keys;
use self::token::Token;
use super::claims::{Claims, Unverified, Verifier};
use crate::server::BuildError;

mod fetch;
mod key;
mod token;

/// How long keys are used before they are fetched again, and how long if they cannot be.
const FRESH: Duration = Duration::from_secs(10 * 60);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How long to wait after keys were fetched because a token named one that nobody knows: anybody can write such a token.
const PAUSE: Duration = Duration::from_secs(60);
/// How long to wait after keys could not be fetched.
const RETRY: Duration = Duration::from_secs(5);

/// Verifies JSON Web Tokens by the public keys of the authorization server that signed them.
///
/// Only signatures by a private key count (RS, PS, ES and EdDSA). Keys are fetched when the first token comes, kept, and
/// fetched again when they are old or a token names one that is not among them.
#[derive(Clone)]
pub struct Jwks(Arc<Inner>);

struct Inner {
    issuer: String,
    /// Where keys come from, unless they never change.
    source: Option<Source>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    keys: Option<(Arc<Keys>, Instant)>,
    /// Before this, keys are not fetched again.
    not_before: Option<Instant>,
    /// Done when the keys that are being fetched are there, or will not be.
    fetching: Option<Shared<BoxFuture<'static, ()>>>,
}

impl Jwks {
    /// Takes the tokens of an issuer, whose metadata say where its keys are.
    ///
    /// # Errors
    ///
    /// When the issuer is not an address with `https`; `http` is for this machine only.
    pub fn new(issuer: impl Into<String>) -> Result<Self, BuildError> {
        let issuer = issuer.into();
        let source = Source::of_issuer(&issuer)?;
        Ok(Self::of(issuer, Some(source), Held::default()))
    }

    /// Takes the tokens of an issuer whose keys are at an address.
    ///
    /// # Errors
    ///
    /// When one is not an address with `https`; `http` is for this machine only.
    pub fn at(issuer: impl Into<String>, keys: &str) -> Result<Self, BuildError> {
        let issuer = issuer.into();
        let source = Source::at(&issuer, keys)?;
        Ok(Self::of(issuer, Some(source), Held::default()))
    }

    /// Takes the tokens of an issuer by keys that never change: a JSON Web Key Set.
    ///
    /// # Errors
    ///
    /// When no key of the set can be used.
    pub fn fixed(issuer: impl Into<String>, keys: &Value) -> Result<Self, BuildError> {
        let keys = serde_json::to_vec(keys).unwrap_or_default();
        let keys = Keys::read(&keys).map_err(|message| BuildError::OAuth { message })?;
        let held = Held {
            keys: Some((Arc::new(keys), Instant::now())),
            ..Held::default()
        };
        Ok(Self::of(issuer.into(), None, held))
    }

    fn of(issuer: String, source: Option<Source>, held: Held) -> Self {
        Self(Arc::new(Inner {
            issuer,
            source,
            held: Mutex::new(held),
        }))
    }

    async fn check(&self, token: &Secret) -> Result<Claims, Unverified> {
        let token = Token::read(token.expose())?;
        let keys = self.keys_for(&token).await?;
        let key = keys.find(token.kid(), token.algorithm);
        let key =
            key.ok_or_else(|| Unverified::refused("the token is signed by an unknown key"))?;
        if !key.verifies(token.algorithm, token.signed, &token.signature) {
            return Err(Unverified::refused("the signature is wrong"));
        }
        token.claims(&self.0.issuer)
    }

    /// Returns the keys, fetched again where that may help.
    async fn keys_for(&self, token: &Token<'_>) -> Result<Arc<Keys>, Unverified> {
        let now = Instant::now();
        let known = self.held().keys.clone();
        let stale = |at: Instant| self.0.source.is_some() && now.duration_since(at) >= FRESH;
        let unknown = match &known {
            Some((keys, at)) => match keys.find(token.kid(), token.algorithm) {
                Some(_) if !stale(*at) => return Ok(Arc::clone(keys)),
                found => found.is_none(),
            },
            None => false,
        };
        // Old keys are as good as new ones while these are on their way.
        if let Some(fetching) = self.fetch(now, unknown)
            && (unknown || known.is_none())
        {
            fetching.await;
        }
        let held = self.held();
        match &held.keys {
            Some((keys, at)) if self.0.source.is_none() || at.elapsed() < LONGEST => {
                Ok(Arc::clone(keys))
            }
            _ => Err(Unverified::unavailable(format!(
                "the keys of {} cannot be fetched",
                self.0.issuer
            ))),
        }
    }

    /// Fetches keys unless that was tried just now; everybody who asks meanwhile waits for the same.
    fn fetch(&self, now: Instant, unknown: bool) -> Option<Shared<BoxFuture<'static, ()>>> {
        let mut held = self.held();
        let fetching = held.fetching.as_ref();
        if let Some(fetching) = fetching.filter(|fetching| fetching.peek().is_none()) {
            return Some(fetching.clone());
        }
        if self.0.source.is_none() || held.not_before.is_some_and(|at| now < at) {
            return None;
        }
        let inner = Arc::clone(&self.0);
        // A task of its own: a client that hangs up must not keep others from the keys.
        let task = tokio::spawn(async move { inner.refresh(unknown).await });
        let fetching = task.map(drop).boxed().shared();
        held.fetching = Some(fetching.clone());
        Some(fetching)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.held()
    }
}

impl Inner {
    async fn refresh(&self, unknown: bool) {
        let fetched = match &self.source {
            Some(source) => source.fetch().await,
            None => return,
        };
        let now = Instant::now();
        let mut held = self.held();
        held.fetching = None;
        match fetched {
            Ok(keys) => {
                held.keys = Some((Arc::new(keys), now));
                held.not_before = unknown.then(|| now + PAUSE);
            }
            Err(why) => {
                tracing::warn!(issuer = self.issuer, why, "no keys to verify tokens with");
                held.not_before = Some(now + RETRY);
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Verifier for Jwks {
    fn issuer(&self) -> Option<&str> {
        Some(&self.0.issuer)
    }

    fn verify<'a>(&'a self, token: &'a Secret) -> BoxFuture<'a, Result<Claims, Unverified>> {
        Box::pin(self.check(token))
    }
}

impl std::fmt::Debug for Jwks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Jwks of {}", self.0.issuer)
    }
}
