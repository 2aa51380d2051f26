//! Sign-ins that wait for the response of a provider: each is in a cookie of the browser that began it, and is completed once.
//!
//! The server stores nothing when a sign-in begins. So there is no limit on them, which one client could use up for all others
//! behind the same address.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright_auth::PendingSignIn;
use toolwright_core::{SharedState, SharedStateError};

use crate::http::cookie::{SameSite, SetCookie, cookie_named};
use crate::http::error_response::ErrorResponse;

/// What the names of the cookies begin with: each sign-in has its own, so that two tabs do not disturb each other.
const COOKIE_PREFIX: &str = "toolwright_sign_in_";

/// The space of the shared state for sign-ins that were completed; the key is a digest of the state.
const COMPLETED: &str = "sign_in";

/// How long a person may take at the provider.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

/// A sign-in that was begun by this browser.
pub(super) struct BegunSignIn {
    /// The name of the provider.
    pub(super) provider: String,
    pub(super) pending: PendingSignIn,
    /// The local path where the person wants to go on.
    pub(super) return_to: String,
}

/// The value of the cookie: provider, state, nonce, code verifier, redirect address, path to return to.
#[derive(Serialize, Deserialize)]
struct CookieFields(String, String, String, String, String, String);

impl BegunSignIn {
    /// Returns the `Set-Cookie` header that binds the sign-in to the browser.
    pub(super) fn to_cookie(
        &self,
        path: &str,
        is_secure: bool,
    ) -> Result<HeaderValue, ErrorResponse> {
        let Self { provider, pending, return_to } = self;
        let PendingSignIn { state, nonce, code_verifier, redirect_uri } = pending;
        let [provider, state, nonce, verifier, redirect, return_to] =
            [provider, state, nonce, code_verifier, redirect_uri, return_to].map(Clone::clone);
        let name = cookie_name(&state);
        let fields = CookieFields(provider, state, nonce, verifier, redirect, return_to);
        let fields = serde_json::to_vec(&fields).map_err(ErrorResponse::unencodable)?;
        set_cookie(&name, &BASE64URL_NOPAD.encode(&fields), path, is_secure, LIFETIME)
    }

    /// Returns the sign-in of a state; `None` if this browser has not begun it, or too long ago.
    pub(super) fn from_cookie(headers: &HeaderMap, state: &str) -> Option<Self> {
        let value = cookie_named(headers, &cookie_name(state))?;
        let fields = BASE64URL_NOPAD.decode(value.as_bytes()).ok()?;
        let CookieFields(provider, own_state, nonce, code_verifier, redirect_uri, return_to) =
            serde_json::from_slice(&fields).ok()?;
        let pending = PendingSignIn { state: own_state, nonce, code_verifier, redirect_uri };
        (pending.state == state).then_some(Self { provider, pending, return_to })
    }

    /// The `Set-Cookie` header that removes the cookie of a sign-in.
    pub(super) fn clear_cookie(
        state: &str,
        path: &str,
        is_secure: bool,
    ) -> Result<HeaderValue, ErrorResponse> {
        set_cookie(&cookie_name(state), "", path, is_secure, Duration::ZERO)
    }
}

/// Returns true if the sign-in was completed before.
pub(super) async fn is_completed(
    shared: &Arc<dyn SharedState>,
    state: &str,
) -> Result<bool, SharedStateError> {
    Ok(shared.get(COMPLETED, &digest(state)).await?.is_some())
}

/// Completes a sign-in that its provider has confirmed; returns false if it was completed before.
pub(super) async fn complete(
    shared: &Arc<dyn SharedState>,
    state: &str,
) -> Result<bool, SharedStateError> {
    shared.insert(COMPLETED, &digest(state), "", Some(LIFETIME)).await
}

fn digest(state: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(state))
}

fn cookie_name(state: &str) -> String {
    let digest = digest(state);
    format!("{COOKIE_PREFIX}{}", digest.get(..16).unwrap_or(&digest))
}

fn set_cookie(
    name: &str,
    value: &str,
    path: &str,
    is_secure: bool,
    lifetime: Duration,
) -> Result<HeaderValue, ErrorResponse> {
    // Not `Strict`: the response of the provider is a navigation from its site.
    SetCookie { name, value, path, same_site: SameSite::Lax, lifetime, is_secure }.to_header()
}
