//! An approval on paper: signed, bound, for one use, for a while.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolwright_schema::canonical_json;

use crate::call::context::Caller;
use crate::config::Secret;
use crate::tool::encode_hex;

/// How long an approval is good for, unless said otherwise.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(600);

/// A signed approval of one call: this tool, these arguments, this caller.
///
/// It is plain data that can be stored and brought back; nobody but the [`Approvals`] that made it
/// can make another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalToken {
    id: String,
    digest: String,
    /// In milliseconds since 1970.
    expires: u64,
    signature: String,
}

impl ApprovalToken {
    /// When it stops being good, in milliseconds since 1970.
    pub fn expires(&self) -> u64 {
        self.expires
    }
}

/// Makes approvals, and takes each of them once.
pub struct ApprovalSigner {
    key: Secret,
    lifetime: Duration,
    /// Those that were used, until they expire.
    redeemed: Mutex<HashMap<String, u64>>,
}

impl ApprovalSigner {
    /// Makes approvals that only this process accepts.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers to give.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self::with_key(encode_hex(&key)))
    }

    /// Makes approvals that everybody with the same key accepts: another process, or this one after
    /// a restart.
    ///
    /// Each of them remembers by itself which approvals were used. A blank key accepts none.
    pub fn with_key(key: impl Into<String>) -> Self {
        Self {
            key: Secret::new(key),
            lifetime: DEFAULT_LIFETIME,
            redeemed: Mutex::default(),
        }
    }

    /// Sets how long an approval is good for, and how long somebody may take to decide.
    #[must_use]
    pub fn lifetime(mut self, life: Duration) -> Self {
        self.lifetime = life;
        self
    }

    pub(crate) fn approval_timeout(&self) -> Duration {
        self.lifetime
    }

    /// Approves one call.
    pub(crate) fn issue(
        &self,
        fingerprint: &str,
        arguments: &Value,
        caller: &Caller,
    ) -> ApprovalToken {
        let mut id = [0; 16];
        // Without random numbers there is no id, and so no valid grant: that fails closed.
        let id = match getrandom::fill(&mut id) {
            Ok(()) => encode_hex(&id),
            Err(_) => String::new(),
        };
        let digest = call_digest(fingerprint, arguments, caller);
        let expires = now_millis().saturating_add(millis(self.lifetime));
        let signature = self.signature(&id, &digest, expires);
        ApprovalToken {
            id,
            digest,
            expires,
            signature,
        }
    }

    /// Looks at a grant; `Err` says why it does not allow the call.
    pub(crate) fn verify(
        &self,
        grant: &ApprovalToken,
        fingerprint: &str,
        arguments: &Value,
        caller: &Caller,
    ) -> Result<(), &'static str> {
        let signed = self.mac(&grant.id, &grant.digest, grant.expires);
        let signature = decode_hex(&grant.signature);
        // With a blank key, anybody could sign.
        let keyless = self.key.expose().trim().is_empty();
        if keyless || grant.id.is_empty() || signed.verify_slice(&signature).is_err() {
            return Err("the approval is not one of ours");
        }
        if grant.digest != call_digest(fingerprint, arguments, caller) {
            return Err("the approval is for another call");
        }
        match grant.expires <= now_millis() {
            true => Err("the approval has expired"),
            false => Ok(()),
        }
    }

    /// Uses a grant up; `Err` says why it does not allow the call.
    pub(crate) fn redeem(
        &self,
        grant: &ApprovalToken,
        fingerprint: &str,
        arguments: &Value,
        caller: &Caller,
    ) -> Result<(), &'static str> {
        self.verify(grant, fingerprint, arguments, caller)?;
        let now = now_millis();
        let mut used = self.redeemed.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, expires| *expires > now);
        match used.insert(grant.id.clone(), grant.expires) {
            None => Ok(()),
            Some(_) => Err("the approval was used before"),
        }
    }

    fn mac(&self, id: &str, digest: &str, expires: u64) -> Hmac<Sha256> {
        // A key of any length will do, says HMAC; the error is there for other algorithms.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose().as_bytes())
            .unwrap_or_else(|_| Hmac::new(&Default::default()));
        mac.update(format!("{id}\n{digest}\n{expires}").as_bytes());
        mac
    }

    fn signature(&self, id: &str, digest: &str, expires: u64) -> String {
        encode_hex(&self.mac(id, digest, expires).finalize().into_bytes())
    }
}

impl fmt::Debug for ApprovalSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("life", &self.lifetime)
            .finish_non_exhaustive()
    }
}

/// What a grant is bound to; arguments in one order of keys, so that theirs does not matter.
fn call_digest(fingerprint: &str, arguments: &Value, caller: &Caller) -> String {
    let caller = match caller.name() {
        Some(name) => format!("named {name}"),
        None => "anonymous".to_owned(),
    };
    let bound = format!("{fingerprint}\n{caller}\n{}", canonical_json(arguments));
    encode_hex(&Sha256::digest(bound))
}

fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(u64::MAX, millis)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads digits as [`hex`] writes them; anything else is nothing.
fn decode_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> = digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    bytes
        .filter(|bytes| encode_hex(bytes) == text)
        .unwrap_or_default()
}
