//! The answers so far as a signed text, which the client keeps between the rounds of a request (`requestState`).
//!
//! The server stores nothing between rounds: the client sends the state back with its answers. The signature binds it to the
//! caller and the request; it expires, and it lists the requested keys, so that an approval counts only if it was requested.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolwright_core::__internal::{expiry_millis_now, random_hex, whole_millis};
use toolwright_core::{Caller, Secret, ToolCall};

use crate::lock::lock;

/// The prefix of the server's own keys: their answers count only if they were requested.
pub(crate) const RESERVED_KEY_PREFIX: &str = "toolwright/";

/// The time that a client has for one round.
const STATE_TTL: Duration = Duration::from_secs(15 * 60);

pub(crate) struct RequestStateSigner {
    key: Secret,
    /// Nonces of the rounds that an approval came with, until they expire: each counts once.
    consumed_rounds: Mutex<HashMap<String, u64>>,
}

/// The verified answers of earlier rounds and of this one.
pub(crate) struct VerifiedState {
    pub(crate) answers: Map<String, Value>,
    pub(crate) input_round: Option<InputRound>,
}

impl VerifiedState {
    /// Answers without a signed state: all but those with reserved keys.
    pub(crate) fn without_state(answers: &str) -> Self {
        Self { answers: parse_answers(answers, &[]), input_round: None }
    }
}

/// One round of input.
#[derive(Clone)]
pub(crate) struct InputRound {
    nonce: String,
    expires: u64,
}

#[derive(Serialize, Deserialize)]
struct SignedState {
    subject: String,
    /// In milliseconds since 1970.
    expires: u64,
    /// Identifies the round.
    nonce: String,
    asked: Vec<String>,
    answers: Map<String, Value>,
}

impl RequestStateSigner {
    pub(crate) fn new(key: String) -> Self {
        Self { key: Secret::new(key), consumed_rounds: Mutex::default() }
    }

    /// Signs the answers so far, and the keys that are requested now; `subject` is the [`request_digest`].
    pub(crate) fn sign(
        &self,
        subject: String,
        answers: Map<String, Value>,
        asked: Vec<String>,
    ) -> String {
        let state = SignedState {
            subject,
            expires: expiry_millis_now().saturating_add(whole_millis(STATE_TTL)),
            nonce: random_hex(16).unwrap_or_default(),
            asked,
            answers,
        };
        let text = serde_json::to_vec(&state).unwrap_or_default();
        let signature = self.mac(&text).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(signature))
    }

    /// Verifies a state, and adds the answers to its requests; `None` if it is forged, expired or of another request.
    pub(crate) fn verify(
        &self,
        subject: &str,
        state: &str,
        answers: Option<&str>,
    ) -> Option<VerifiedState> {
        let (text, signature) = state.split_once('.')?;
        let text = URL_SAFE_NO_PAD.decode(text).ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(&text).verify_slice(&signature).ok()?;
        let signed: SignedState = serde_json::from_slice(&text).ok()?;
        if signed.subject != subject || signed.expires <= expiry_millis_now() {
            return None;
        }
        let mut all = signed.answers;
        all.extend(parse_answers(answers.unwrap_or("{}"), &signed.asked));
        Some(VerifiedState {
            answers: all,
            input_round: Some(InputRound { nonce: signed.nonce, expires: signed.expires }),
        })
    }

    /// Marks the round of an approval as used; returns false if it was used before.
    pub(crate) fn consume_round(&self, round: &InputRound) -> bool {
        let mut consumed = lock(&self.consumed_rounds);
        let now = expiry_millis_now();
        consumed.retain(|_, expires| *expires > now);
        !round.nonce.is_empty() && consumed.insert(round.nonce.clone(), round.expires).is_none()
    }

    fn mac(&self, text: &[u8]) -> Hmac<Sha256> {
        // HMAC accepts a key of any length; the error exists for other algorithms.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose().as_bytes())
            .unwrap_or_else(|_| Hmac::new(&Default::default()));
        mac.update(text);
        mac
    }
}

/// Parses answers, without those to reserved keys that were not requested.
fn parse_answers(answers: &str, asked: &[String]) -> Map<String, Value> {
    let mut answers: Map<String, Value> = serde_json::from_str(answers).unwrap_or_default();
    answers.retain(|key, _| !key.starts_with(RESERVED_KEY_PREFIX) || asked.contains(key));
    answers
}

/// The digest of the parts of a request that its state is bound to.
pub(crate) fn request_digest(method: &str, call: &ToolCall, caller: &Caller) -> String {
    let mut digest = Sha256::new();
    let caller = caller.name().map_or("-".to_owned(), |name| format!("+{name}"));
    // A client may format the same arguments differently in the next round.
    let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap_or_default();
    let arguments = toolwright_schema::canonical_json(&arguments);
    for part in [method, call.name.as_str(), &caller, &arguments] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    URL_SAFE_NO_PAD.encode(digest.finalize())
}
