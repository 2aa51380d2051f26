//! A signed token in, its claims out, verified by the keys that its issuer publishes.
//!
//! Written on ring, which TLS needs anyway: the crates for this select a cryptography library for the whole process, and none
//! of them offers ring.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use serde_json::{Map, Value};
use tokio::time::Instant;
use toolwright_core::Secret;

use self::key_source::KeySource;
use self::signed_token::SignedToken;
use self::verifying_key::KeySet;
use super::{Claims, TokenVerifier};
use crate::http::error::AuthBuildError;
use crate::http::verify_error::VerifyError;

mod key_source;
mod signed_token;
mod verifying_key;

/// Keys are fetched again after this time; if that fails, they are used until the maximal age.
const REFRESH_AFTER: Duration = Duration::from_secs(10 * 60);
const MAX_KEY_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// The pause after keys were fetched because of an unknown key id, and after they could not be fetched: any client can send a
/// token with such an id. A token whose key is unknown in the pause is neither valid nor invalid: it has to be sent again.
const FETCH_PAUSE: Duration = Duration::from_secs(5);

/// Verifies JSON Web Tokens by the public keys of the authorization server that signed them.
///
/// Only asymmetric signatures are accepted (RS, PS, ES and EdDSA). Keys are fetched when the first token arrives, cached, and
/// fetched again when they are old or a token names one that is not among them.
#[derive(Clone)]
pub struct Jwks(Arc<JwksInner>);

struct JwksInner {
    issuer: String,
    /// `None` for a fixed key set.
    source: Option<KeySource>,
    key_cache: Mutex<KeyCache>,
}

#[derive(Default)]
struct KeyCache {
    /// The keys, and when they were requested.
    keys: Option<(Arc<KeySet>, Instant)>,
    no_fetch_before: Option<Instant>,
    /// The fetch under way; completes when the keys are in the cache, or cannot be fetched.
    fetching: Option<Shared<BoxFuture<'static, ()>>>,
}

impl Jwks {
    /// Accepts the tokens of an issuer, whose metadata name the address of its keys.
    ///
    /// # Errors
    ///
    /// When the issuer is not an address with `https`; `http` is for this machine only.
    pub fn new(issuer: impl Into<String>) -> Result<Self, AuthBuildError> {
        let issuer = issuer.into();
        let source = KeySource::from_issuer(&issuer)?;
        Ok(Self::from_parts(issuer, Some(source), KeyCache::default()))
    }

    /// Accepts the tokens of an issuer whose key set is at the address `keys`.
    ///
    /// # Errors
    ///
    /// When one is not an address with `https`; `http` is for this machine only.
    pub fn with_keys_url(issuer: impl Into<String>, keys: &str) -> Result<Self, AuthBuildError> {
        let issuer = issuer.into();
        let source = KeySource::from_keys_url(&issuer, keys)?;
        Ok(Self::from_parts(issuer, Some(source), KeyCache::default()))
    }

    /// Accepts the tokens of an issuer by a fixed JSON Web Key Set.
    ///
    /// # Errors
    ///
    /// When no key of the set can be used.
    pub fn from_key_set(issuer: impl Into<String>, keys: &Value) -> Result<Self, AuthBuildError> {
        let keys = serde_json::to_vec(keys).unwrap_or_default();
        let keys = KeySet::parse(&keys).map_err(|message| AuthBuildError::OAuth { message })?;
        let cache =
            KeyCache { keys: Some((Arc::new(keys), Instant::now())), ..KeyCache::default() };
        Ok(Self::from_parts(issuer.into(), None, cache))
    }

    fn from_parts(issuer: String, source: Option<KeySource>, cache: KeyCache) -> Self {
        Self(Arc::new(JwksInner { issuer, source, key_cache: Mutex::new(cache) }))
    }

    async fn verify_token(&self, token: &Secret) -> Result<Claims, VerifyError> {
        let token = SignedToken::parse(token.expose())?;
        token.check_access_type()?;
        self.verify_signature(&token).await?;
        token.claims(&self.0.issuer)
    }

    /// Returns all claims of an ID token whose signature is one of these keys, by one of these algorithms if any are named; not one
    /// of the claims is checked.
    pub(crate) async fn verify_id_token(
        &self,
        token: &Secret,
        algorithms: Option<&[String]>,
    ) -> Result<Map<String, Value>, VerifyError> {
        let token = SignedToken::parse(token.expose())?;
        if !token.has_type("JWT") {
            return Err(VerifyError::invalid_token("the token is no ID token"));
        }
        let name = token.algorithm.name();
        if algorithms.is_some_and(|algorithms| !algorithms.iter().any(|known| known == name)) {
            let message = "the token is signed in a way that its issuer does not announce";
            return Err(VerifyError::invalid_token(message));
        }
        self.verify_signature(&token).await?;
        token.all_claims()
    }

    async fn verify_signature(&self, token: &SignedToken<'_>) -> Result<(), VerifyError> {
        let arrived = Instant::now();
        let (keys, requested_at) = self.keys_for(token, arrived).await?;
        let Some(key) = keys.find(token.kid(), token.algorithm) else {
            // The issuer may have published the key since these were fetched.
            return Err(match self.0.source.is_some() && requested_at < arrived {
                true => VerifyError::unavailable(format!(
                    "a token names a key that {} may have published just now",
                    self.0.issuer
                )),
                false => VerifyError::invalid_token("the token is signed by an unknown key"),
            });
        };
        match key.verifies(token.algorithm, token.signing_input, &token.signature) {
            true => Ok(()),
            false => Err(VerifyError::invalid_token("the signature is wrong")),
        }
    }

    /// Returns the cached keys, and when they were requested; fetches them first if there are none or the token's is not among them.
    async fn keys_for(
        &self,
        token: &SignedToken<'_>,
        now: Instant,
    ) -> Result<(Arc<KeySet>, Instant), VerifyError> {
        let cached = self.0.key_cache().keys.clone();
        let is_stale =
            |at: Instant| self.0.source.is_some() && now.duration_since(at) >= REFRESH_AFTER;
        let is_unknown_key = match &cached {
            Some((keys, at)) => match keys.find(token.kid(), token.algorithm) {
                Some(_) if !is_stale(*at) => return Ok((Arc::clone(keys), *at)),
                found => found.is_none(),
            },
            None => false,
        };
        // A stale key still verifies while the new ones are being fetched.
        if let Some(fetching) = self.start_fetch(now, is_unknown_key)
            && (is_unknown_key || cached.is_none())
        {
            fetching.await;
        }
        let cache = self.0.key_cache();
        match &cache.keys {
            Some((keys, at)) if self.0.source.is_none() || at.elapsed() < MAX_KEY_AGE => {
                Ok((Arc::clone(keys), *at))
            }
            _ => Err(VerifyError::unavailable(format!(
                "the keys of {} cannot be fetched",
                self.0.issuer
            ))),
        }
    }

    /// Starts to fetch keys, or returns the fetch under way; `None` during the pause after the last one.
    fn start_fetch(
        &self,
        now: Instant,
        is_unknown_key: bool,
    ) -> Option<Shared<BoxFuture<'static, ()>>> {
        let mut cache = self.0.key_cache();
        let fetching = cache.fetching.as_ref();
        if let Some(fetching) = fetching.filter(|fetching| fetching.peek().is_none()) {
            return Some(fetching.clone());
        }
        if self.0.source.is_none() || cache.no_fetch_before.is_some_and(|at| now < at) {
            return None;
        }
        let inner = Arc::clone(&self.0);
        // A task of its own: a client that hangs up must not cancel the fetch that others wait for.
        let task = tokio::spawn(async move { inner.refresh(is_unknown_key).await });
        let fetching = task.map(drop).boxed().shared();
        cache.fetching = Some(fetching.clone());
        Some(fetching)
    }
}

impl JwksInner {
    async fn refresh(&self, is_unknown_key: bool) {
        // The issuer may publish a key while these are on their way.
        let requested_at = Instant::now();
        let fetched = match &self.source {
            Some(source) => source.fetch().await,
            None => return,
        };
        let now = Instant::now();
        let mut cache = self.key_cache();
        cache.fetching = None;
        match fetched {
            Ok(keys) => {
                cache.keys = Some((Arc::new(keys), requested_at));
                cache.no_fetch_before = is_unknown_key.then(|| now + FETCH_PAUSE);
            }
            Err(reason) => {
                tracing::warn!(issuer = self.issuer, reason, "no keys to verify tokens with");
                cache.no_fetch_before = Some(now + FETCH_PAUSE);
            }
        }
    }

    fn key_cache(&self) -> MutexGuard<'_, KeyCache> {
        self.key_cache.lock().unwrap_or_else(PoisonError::into_inner)
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
