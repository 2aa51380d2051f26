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

use self::key_source::KeySource;
use self::signed_token::SignedToken;
use self::verifying_key::KeySet;
use super::claims::{Claims, TokenVerifier, VerifyError};
use crate::server::McpBuildError;

mod key_source;
mod signed_token;
mod verifying_key;

/// How long keys are used before they are fetched again, and how long if they cannot be.
const REFRESH_AFTER: Duration = Duration::from_secs(10 * 60);
const MAX_KEY_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long to wait after keys were fetched because a token named one that nobody knows: anybody can write such a token.
const UNKNOWN_KEY_COOLDOWN: Duration = Duration::from_secs(60);
/// How long to wait after keys could not be fetched.
const FETCH_RETRY_DELAY: Duration = Duration::from_secs(5);

/// Verifies JSON Web Tokens by the public keys of the authorization server that signed them.
///
/// Only signatures by a private key count (RS, PS, ES and EdDSA). Keys are fetched when the first token comes, kept, and
/// fetched again when they are old or a token names one that is not among them.
#[derive(Clone)]
pub struct Jwks(Arc<JwksInner>);

struct JwksInner {
    issuer: String,
    /// Where keys come from, unless they never change.
    source: Option<KeySource>,
    key_cache: Mutex<KeyCache>,
}

#[derive(Default)]
struct KeyCache {
    keys: Option<(Arc<KeySet>, Instant)>,
    /// Before this, keys are not fetched again.
    no_fetch_before: Option<Instant>,
    /// Done when the keys that are being fetched are there, or will not be.
    fetching: Option<Shared<BoxFuture<'static, ()>>>,
}

impl Jwks {
    /// Takes the tokens of an issuer, whose metadata say where its keys are.
    ///
    /// # Errors
    ///
    /// When the issuer is not an address with `https`; `http` is for this machine only.
    pub fn new(issuer: impl Into<String>) -> Result<Self, McpBuildError> {
        let issuer = issuer.into();
        let source = KeySource::from_issuer(&issuer)?;
        Ok(Self::from_parts(issuer, Some(source), KeyCache::default()))
    }

    /// Takes the tokens of an issuer whose keys are at an address.
    ///
    /// # Errors
    ///
    /// When one is not an address with `https`; `http` is for this machine only.
    pub fn with_keys_url(issuer: impl Into<String>, keys: &str) -> Result<Self, McpBuildError> {
        let issuer = issuer.into();
        let source = KeySource::from_keys_url(&issuer, keys)?;
        Ok(Self::from_parts(issuer, Some(source), KeyCache::default()))
    }

    /// Takes the tokens of an issuer by keys that never change: a JSON Web Key Set.
    ///
    /// # Errors
    ///
    /// When no key of the set can be used.
    pub fn from_key_set(issuer: impl Into<String>, keys: &Value) -> Result<Self, McpBuildError> {
        let keys = serde_json::to_vec(keys).unwrap_or_default();
        let keys = KeySet::parse(&keys).map_err(|message| McpBuildError::OAuth { message })?;
        let held = KeyCache {
            keys: Some((Arc::new(keys), Instant::now())),
            ..KeyCache::default()
        };
        Ok(Self::from_parts(issuer.into(), None, held))
    }

    fn from_parts(issuer: String, source: Option<KeySource>, held: KeyCache) -> Self {
        Self(Arc::new(JwksInner {
            issuer,
            source,
            key_cache: Mutex::new(held),
        }))
    }

    async fn verify_token(&self, token: &Secret) -> Result<Claims, VerifyError> {
        let token = SignedToken::parse(token.expose())?;
        let keys = self.keys_for(&token).await?;
        let key = keys.find(token.kid(), token.algorithm);
        let key =
            key.ok_or_else(|| VerifyError::invalid_token("the token is signed by an unknown key"))?;
        if !key.verifies(token.algorithm, token.signing_input, &token.signature) {
            return Err(VerifyError::invalid_token("the signature is wrong"));
        }
        token.claims(&self.0.issuer)
    }

    /// Returns the keys, fetched again where that may help.
    async fn keys_for(&self, token: &SignedToken<'_>) -> Result<Arc<KeySet>, VerifyError> {
        let now = Instant::now();
        let known = self.key_cache().keys.clone();
        let stale =
            |at: Instant| self.0.source.is_some() && now.duration_since(at) >= REFRESH_AFTER;
        let unknown = match &known {
            Some((keys, at)) => match keys.find(token.kid(), token.algorithm) {
                Some(_) if !stale(*at) => return Ok(Arc::clone(keys)),
                found => found.is_none(),
            },
            None => false,
        };
        // Old keys are as good as new ones while these are on their way.
        if let Some(fetching) = self.start_fetch(now, unknown)
            && (unknown || known.is_none())
        {
            fetching.await;
        }
        let held = self.key_cache();
        match &held.keys {
            Some((keys, at)) if self.0.source.is_none() || at.elapsed() < MAX_KEY_AGE => {
                Ok(Arc::clone(keys))
            }
            _ => Err(VerifyError::unavailable(format!(
                "the keys of {} cannot be fetched",
                self.0.issuer
            ))),
        }
    }

    /// Fetches keys unless that was tried just now; everybody who asks meanwhile waits for the same.
    fn start_fetch(&self, now: Instant, unknown: bool) -> Option<Shared<BoxFuture<'static, ()>>> {
        let mut held = self.key_cache();
        let fetching = held.fetching.as_ref();
        if let Some(fetching) = fetching.filter(|fetching| fetching.peek().is_none()) {
            return Some(fetching.clone());
        }
        if self.0.source.is_none() || held.no_fetch_before.is_some_and(|at| now < at) {
            return None;
        }
        let inner = Arc::clone(&self.0);
        // A task of its own: a client that hangs up must not keep others from the keys.
        let task = tokio::spawn(async move { inner.refresh(unknown).await });
        let fetching = task.map(drop).boxed().shared();
        held.fetching = Some(fetching.clone());
        Some(fetching)
    }

    fn key_cache(&self) -> MutexGuard<'_, KeyCache> {
        self.0.key_cache()
    }
}

impl JwksInner {
    async fn refresh(&self, unknown: bool) {
        let fetched = match &self.source {
            Some(source) => source.fetch().await,
            None => return,
        };
        let now = Instant::now();
        let mut held = self.key_cache();
        held.fetching = None;
        match fetched {
            Ok(keys) => {
                held.keys = Some((Arc::new(keys), now));
                held.no_fetch_before = unknown.then(|| now + UNKNOWN_KEY_COOLDOWN);
            }
            Err(why) => {
                tracing::warn!(issuer = self.issuer, why, "no keys to verify tokens with");
                held.no_fetch_before = Some(now + FETCH_RETRY_DELAY);
            }
        }
    }

    fn key_cache(&self) -> MutexGuard<'_, KeyCache> {
        self.key_cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenVerifier for Jwks {
    fn issuer(&self) -> Option<&str> {
        Some(&self.0.issuer)
    }

    fn verify<'a>(&'a self, token: &'a Secret) -> BoxFuture<'a, Result<Claims, VerifyError>> {
        Box::pin(self.verify_token(token))
    }
}

impl std::fmt::Debug for Jwks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Jwks of {}", self.0.issuer)
    }
}
