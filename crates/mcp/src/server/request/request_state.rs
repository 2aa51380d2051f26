//! The answers so far as a signed text, which the client keeps between the rounds of a request (`requestState`).
//!
//! The server stores nothing between rounds: the client sends the state back with its answers. The signature binds it to the
//! caller and the request; it expires, and it lists the requested keys, so that an approval counts only if it was requested.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolwright_core::__internal::{expiry_millis_now, random_hex, whole_millis};
use toolwright_core::{Caller, Secret, ToolCall};

use crate::lock::lock;
use crate::server::cluster::Space;
use crate::server::{McpServer, RpcError};

/// The prefix of the server's own keys: their answers count only if they were requested.
pub(crate) const RESERVED_KEY_PREFIX: &str = "toolwright/";

/// The time that a client has for one round.
const STATE_TTL: Duration = Duration::from_secs(15 * 60);

pub(crate) struct RequestStateSigner {
    /// In a cluster it is set when the node joins.
    key: OnceLock<Secret>,
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
    /// In milliseconds since 1970.
    expires: u64,
}

impl InputRound {
    /// Returns the text that identifies the round.
    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }
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
    /// Creates a signer without a key.
    pub(crate) fn new() -> Self {
        Self { key: OnceLock::new(), consumed_rounds: Mutex::default() }
    }

    /// Sets the key, unless it is set.
    pub(crate) fn set_key(&self, key: Secret) {
        let _ = self.key.set(key);
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
        // Without a key, no signature is valid.
        let signature = self.mac(&text).map(|mac| mac.finalize().into_bytes());
        let signature = signature.unwrap_or_default();
        format!("{}.{}", BASE64URL_NOPAD.encode(&text), BASE64URL_NOPAD.encode(&signature))
    }

    /// Verifies a state, and adds the answers to its requests; `None` if it is forged, expired or of another request.
    pub(crate) fn verify(
        &self,
        subject: &str,
        state: &str,
        answers: Option<&str>,
    ) -> Option<VerifiedState> {
        let (text, signature) = state.split_once('.')?;
        let text = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).ok()?;
        self.mac(&text)?.verify_slice(&signature).ok()?;
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

    /// Marks the round of an approval as used at this node; returns false if it was used before.
    fn consume_own_round(&self, round: &InputRound) -> bool {
        let mut consumed = lock(&self.consumed_rounds);
        let now = expiry_millis_now();
        consumed.retain(|_, expires| *expires > now);
        !round.nonce.is_empty() && consumed.insert(round.nonce.clone(), round.expires).is_none()
    }

    /// `None` without a key.
    fn mac(&self, text: &[u8]) -> Option<Hmac<Sha256>> {
        let key = self.key.get()?;
        let mut mac = Hmac::<Sha256>::new_from_slice(key.expose().as_bytes()).ok()?;
        mac.update(text);
        Some(mac)
    }
}

impl McpServer {
    /// Marks the round of an approval as used, at all nodes; returns false if it was used before.
    pub(crate) async fn consume_round(&self, round: &InputRound) -> Result<bool, RpcError> {
        let Some(cluster) = self.joined_cluster().await? else {
            return Ok(self.0.request_states.consume_own_round(round));
        };
        // It is kept for longer than the state is valid by any node's clock.
        let ttl = 2 * STATE_TTL;
        Ok(!round.nonce.is_empty()
            && cluster.insert(&cluster.key(Space::Round, &round.nonce), "", Some(ttl)).await?)
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
    BASE64URL_NOPAD.encode(&digest.finalize())
}
