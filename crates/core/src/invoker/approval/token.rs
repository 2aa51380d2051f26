//! [`ApprovalToken`] and [`ApprovalSigner`]: signed approvals for one use and a limited time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolwright_schema::canonical_json;

use crate::call::context::Caller;
use crate::random::random_hex;
use crate::unix_time::{expiry_millis_now, whole_millis};
use toolwright_config::Secret;

/// The default lifetime of an approval.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(600);

/// A signed approval of one call: this tool, these arguments, this caller.
///
/// It is plain data that can be stored. Only an [`ApprovalSigner`] with the same key can issue one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalToken {
    id: String,
    digest: String,
    /// In milliseconds since 1970-01-01 UTC.
    expires: u64,
    signature: String,
}

impl ApprovalToken {
    /// Returns the time of expiry, in milliseconds since 1970-01-01 UTC.
    pub fn expires(&self) -> u64 {
        self.expires
    }
}

/// Issues approval tokens and redeems each of them once.
pub struct ApprovalSigner {
    /// The first one signs, and all of them verify.
    keys: Vec<Secret>,
    lifetime: Duration,
    /// The ids of redeemed tokens and when they expire.
    redeemed: Mutex<HashMap<String, u64>>,
}

impl ApprovalSigner {
    /// Makes a signer with a random key: only this process accepts its tokens.
    ///
    /// # Errors
    ///
    /// When the operating system has no random numbers.
    pub fn new() -> Result<Self, getrandom::Error> {
        Ok(Self::with_key(random_hex(32)?))
    }

    /// Makes a signer with a shared key: another process, or this one after a restart, accepts its tokens.
    ///
    /// Each signer has its own list of redeemed tokens. A blank key accepts no token.
    pub fn with_key(key: impl Into<String>) -> Self {
        Self::with_keys(vec![Secret::new(key)])
    }

    /// Makes a signer with several shared keys: the first one signs, and all of them verify.
    ///
    /// Without a key, or with a blank one, nothing is signed that verifies.
    pub fn with_keys(keys: Vec<Secret>) -> Self {
        Self { keys, lifetime: DEFAULT_LIFETIME, redeemed: Mutex::default() }
    }

    /// Signs a text that is no token.
    pub fn sign_text(&self, text: &str) -> String {
        let key = self.keys.first().map_or("", Secret::expose);
        HEXLOWER.encode(&mac(key, "text", text).finalize().into_bytes())
    }

    /// Returns true if [`sign_text`](Self::sign_text) has made this signature of the text, with any of the keys.
    pub fn is_text_signature(&self, text: &str, signature: &str) -> bool {
        self.is_signature("text", text, signature)
    }

    fn is_signature(&self, kind: &str, text: &str, signature: &str) -> bool {
        // Upper-case digits are rejected: a signature has one spelling.
        let Ok(bytes) = HEXLOWER.decode(signature.as_bytes()) else { return false };
        // With a blank key, anyone could sign.
        let mut keys = self.keys.iter().map(Secret::expose).filter(|key| !key.trim().is_empty());
        keys.any(|key| mac(key, kind, text).verify_slice(&bytes).is_ok())
    }

    /// Sets the lifetime of a token, which is also the time limit of an approver; 10 minutes by default.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    pub(crate) fn approval_timeout(&self) -> Duration {
        self.lifetime
    }

    /// Issues the token of one call.
    pub(crate) fn issue(
        &self,
        fingerprint: &str,
        arguments: &Value,
        caller: &Caller,
    ) -> ApprovalToken {
        // Without random numbers there is no id, and `verify` rejects a token without one.
        let id = random_hex(16).unwrap_or_default();
        let digest = call_digest(fingerprint, arguments, caller);
        let expires = expiry_millis_now().saturating_add(whole_millis(self.lifetime));
        let signature = self.signature(&id, &digest, expires);
        ApprovalToken { id, digest, expires, signature }
    }

    /// Checks a token without redeeming it; `Err` is why it is not valid for the call.
    pub(crate) fn verify(
        &self,
        token: &ApprovalToken,
        fingerprint: &str,
        arguments: &Value,
        caller: &Caller,
    ) -> Result<(), &'static str> {
        let signed = token_text(&token.id, &token.digest, token.expires);
        if token.id.is_empty() || !self.is_signature("", &signed, &token.signature) {
            return Err("the approval is not one of ours");
        }
        if token.digest != call_digest(fingerprint, arguments, caller) {
            return Err("the approval is for another call");
        }
        match token.expires <= expiry_millis_now() {
            true => Err("the approval has expired"),
            false => Ok(()),
        }
    }

    /// Checks a token and marks it as redeemed; `Err` is why it is not valid for the call.
    pub(crate) fn redeem(
        &self,
        token: &ApprovalToken,
        fingerprint: &str,
        arguments: &Value,
        caller: &Caller,
    ) -> Result<(), &'static str> {
        self.verify(token, fingerprint, arguments, caller)?;
        let now = expiry_millis_now();
        let mut redeemed = self.redeemed.lock().unwrap_or_else(PoisonError::into_inner);
        redeemed.retain(|_, expires| *expires > now);
        match redeemed.insert(token.id.clone(), token.expires) {
            None => Ok(()),
            Some(_) => Err("the approval was used before"),
        }
    }

    fn signature(&self, id: &str, digest: &str, expires: u64) -> String {
        let key = self.keys.first().map_or("", Secret::expose);
        HEXLOWER.encode(&mac(key, "", &token_text(id, digest, expires)).finalize().into_bytes())
    }
}

/// The text of a token that its signature covers.
fn token_text(id: &str, digest: &str, expires: u64) -> String {
    format!("{id}\n{digest}\n{expires}")
}

/// Returns the code of a text; a kind other than "" keeps its codes apart from those of tokens, whose ids have no line feed.
fn mac(key: &str, kind: &str, text: &str) -> Hmac<Sha256> {
    // HMAC accepts a key of any length; the error exists for other algorithms.
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes())
        .unwrap_or_else(|_| Hmac::new(&Default::default()));
    if !kind.is_empty() {
        mac.update(format!("\n{kind}\n").as_bytes());
    }
    mac.update(text.as_bytes());
    mac
}

impl fmt::Debug for ApprovalSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalSigner").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

/// Returns the digest that a token is bound to; canonical JSON, so that the order of keys does not matter.
fn call_digest(fingerprint: &str, arguments: &Value, caller: &Caller) -> String {
    let caller = match caller.name() {
        Some(name) => format!("named {name}"),
        None => "anonymous".to_owned(),
    };
    let bound = format!("{fingerprint}\n{caller}\n{}", canonical_json(arguments));
    HEXLOWER.encode(&Sha256::digest(bound))
}
