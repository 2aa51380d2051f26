//! Sign-ins that wait for the response of a provider: each is used once, and only by the browser that began it.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright_auth::PendingSignIn;
use toolwright_core::{SharedState, SharedStateError};

use super::session_seal::SealKey;
use crate::http::cookie::{SameSite, SetCookie, cookie_named};
use crate::http::error_response::ErrorResponse;

/// What the names of the cookies begin with: each sign-in has its own, so that two tabs do not disturb each other.
const COOKIE_PREFIX: &str = "toolwright_sign_in_";

/// The space of the shared state; the key is a digest of the state.
const SPACE: &str = "sign_in";

/// How long a person may take at the provider.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

/// Longer states are not looked up.
const MAX_STATE_BYTES: usize = 256;

/// What is remembered of a sign-in, encrypted with a key that only the browser has.
#[derive(Serialize, Deserialize)]
struct PendingRecord {
    provider: String,
    state: String,
    nonce: String,
    code_verifier: String,
    redirect_uri: String,
    return_to: String,
}

/// A sign-in that was begun here, by this browser.
pub(super) struct BegunSignIn {
    pub(super) pending: PendingSignIn,
    /// The local path where the person wants to go on.
    pub(super) return_to: String,
}

/// Stores a sign-in, and returns the `Set-Cookie` header that binds it to the browser.
pub(super) async fn store(
    shared: &Arc<dyn SharedState>,
    provider: &str,
    pending: PendingSignIn,
    return_to: String,
    (cookie_path, is_secure): (&str, bool),
) -> Result<HeaderValue, ErrorResponse> {
    let key = key_of(&pending.state);
    let PendingSignIn { state, nonce, code_verifier, redirect_uri } = pending;
    let provider = provider.to_owned();
    let record = PendingRecord { provider, state, nonce, code_verifier, redirect_uri, return_to };
    let plain = serde_json::to_vec(&record).map_err(ErrorResponse::unencodable)?;
    let secret = SealKey::generate()?;
    let sealed = secret.seal(&key, &plain);
    let sealed = sealed.ok_or_else(|| ErrorResponse::unencodable("it cannot be encrypted"))?;
    shared.put(SPACE, &key, &sealed, Some(LIFETIME)).await?;
    set_cookie(&key, &secret.to_hex(), (cookie_path, is_secure), LIFETIME)
}

/// Takes the sign-in of a state, which then exists no more; `None` if there is none, it is of another provider, or the browser is
/// another one.
pub(super) async fn take(
    shared: &Arc<dyn SharedState>,
    provider: &str,
    state: &str,
    headers: &HeaderMap,
) -> Result<Option<BegunSignIn>, SharedStateError> {
    if state.len() > MAX_STATE_BYTES {
        return Ok(None);
    }
    let key = key_of(state);
    // Without the cookie nothing is taken: a client that has learnt the state cannot use up the sign-in.
    let Some(secret) = cookie_named(headers, &cookie_name(&key)).and_then(SealKey::from_hex) else {
        return Ok(None);
    };
    let Some(sealed) = shared.remove(SPACE, &key).await? else {
        return Ok(None);
    };
    let record = secret.open(&key, &sealed);
    let record: Option<PendingRecord> = record.and_then(|it| serde_json::from_slice(&it).ok());
    let record = record.filter(|record| record.provider == provider && record.state == state);
    Ok(record.map(|record| {
        let PendingRecord { state, nonce, code_verifier, redirect_uri, return_to, .. } = record;
        let pending = PendingSignIn { state, nonce, code_verifier, redirect_uri };
        BegunSignIn { pending, return_to }
    }))
}

/// The `Set-Cookie` value that removes the cookie of a sign-in.
pub(super) fn clear_cookie(
    state: &str,
    (cookie_path, is_secure): (&str, bool),
) -> Result<HeaderValue, ErrorResponse> {
    set_cookie(&key_of(state), "", (cookie_path, is_secure), Duration::ZERO)
}

fn key_of(state: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(state))
}

fn cookie_name(key: &str) -> String {
    format!("{COOKIE_PREFIX}{}", key.get(..16).unwrap_or(key))
}

fn set_cookie(
    key: &str,
    value: &str,
    (path, is_secure): (&str, bool),
    lifetime: Duration,
) -> Result<HeaderValue, ErrorResponse> {
    // Not `Strict`: the response of the provider is a navigation from its site.
    let (name, same_site) = (&*cookie_name(key), SameSite::Lax);
    SetCookie { name, value, path, same_site, lifetime, is_secure }.to_header()
}
