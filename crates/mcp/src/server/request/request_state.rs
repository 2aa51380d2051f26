//! Answers so far in, a sealed text for the client to keep out; and back, if nobody has touched it.
//!
//! A round of questions leaves nothing behind on the server: the client brings the seal back with its answers.
//! The seal is bound to the caller and to the request, holds for a while, and says which questions were asked,
//! so that nobody gives consent that they were not asked for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolwright_core::{Caller, Secret};

use crate::server::rpc::rfc3339::whole_millis;

/// How the names of our own questions begin: their answers count only if they were asked.
pub(crate) const RESERVED_KEY_PREFIX: &str = "toolwright/";

/// How long a client may take for one round.
const STATE_TTL: Duration = Duration::from_secs(15 * 60);

/// Seals and opens what clients keep for us.
pub(crate) struct RequestStateSigner {
    key: Secret,
    /// Those that somebody's consent came with, until they expire: they are good once.
    consumed_rounds: Mutex<HashMap<String, u64>>,
}

/// What was sealed, and what came with it.
pub(crate) struct VerifiedState {
    pub(crate) answers: Map<String, Value>,
    pub(crate) input_round: Option<InputRound>,
}

impl VerifiedState {
    /// Takes answers that came without a seal: to anything but what only a seal can vouch for.
    pub(crate) fn without_state(answers: &str) -> Self {
        Self {
            answers: parse_answers(answers, &[]),
            input_round: None,
        }
    }
}

/// One round of questions.
#[derive(Clone)]
pub(crate) struct InputRound {
    nonce: String,
    expires: u64,
}

/// What a request is, as far as a seal is concerned.
pub(crate) struct RequestIdentity<'a> {
    pub(crate) method: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) caller: &'a Caller,
}

#[derive(Serialize, Deserialize)]
struct SignedState {
    subject: String,
    /// In milliseconds since 1970.
    expires: u64,
    /// So that no two rounds look alike.
    nonce: String,
    asked: Vec<String>,
    answers: Map<String, Value>,
}

impl RequestStateSigner {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        Ok(Self {
            key: Secret::new(random_hex()?),
            consumed_rounds: Mutex::default(),
        })
    }

    /// Seals the answers so far, and what is asked now.
    pub(crate) fn sign(
        &self,
        subject: &RequestIdentity<'_>,
        answers: Map<String, Value>,
        asked: Vec<String>,
    ) -> String {
        let sealed = SignedState {
            subject: subject.digest(),
            expires: now_millis().saturating_add(whole_millis(STATE_TTL)),
            nonce: random_hex().unwrap_or_default(),
            asked,
            answers,
        };
        let text = serde_json::to_vec(&sealed).unwrap_or_default();
        let signature = self.mac(&text).finalize().into_bytes();
        format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(&text),
            URL_SAFE_NO_PAD.encode(signature)
        )
    }

    /// Opens a seal, and adds those answers that it asked for; `None` if it is not ours or not for this.
    pub(crate) fn verify(
        &self,
        subject: &RequestIdentity<'_>,
        state: &str,
        answers: Option<&str>,
    ) -> Option<VerifiedState> {
        let (text, signature) = state.split_once('.')?;
        let text = URL_SAFE_NO_PAD.decode(text).ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(&text).verify_slice(&signature).ok()?;
        let sealed: SignedState = serde_json::from_slice(&text).ok()?;
        if sealed.subject != subject.digest() || sealed.expires <= now_millis() {
            return None;
        }
        let mut all = sealed.answers;
        all.extend(parse_answers(answers.unwrap_or("{}"), &sealed.asked));
        Some(VerifiedState {
            answers: all,
            input_round: Some(InputRound {
                nonce: sealed.nonce,
                expires: sealed.expires,
            }),
        })
    }

    /// Spends a round that brought somebody's consent; `false` if it was spent before.
    pub(crate) fn consume_round(&self, round: &InputRound) -> bool {
        let mut spent = self
            .consumed_rounds
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = now_millis();
        spent.retain(|_, expires| *expires > now);
        !round.nonce.is_empty() && spent.insert(round.nonce.clone(), round.expires).is_none()
    }

    fn mac(&self, text: &[u8]) -> Hmac<Sha256> {
        // A key of any length will do, says HMAC; the error is there for other algorithms.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose().as_bytes())
            .unwrap_or_else(|_| Hmac::new(&Default::default()));
        mac.update(text);
        mac
    }
}

/// Reads answers, without consent to what was not asked.
fn parse_answers(answers: &str, asked: &[String]) -> Map<String, Value> {
    let mut answers: Map<String, Value> = serde_json::from_str(answers).unwrap_or_default();
    answers.retain(|key, _| !key.starts_with(RESERVED_KEY_PREFIX) || asked.contains(key));
    answers
}

impl RequestIdentity<'_> {
    fn digest(&self) -> String {
        let mut digest = Sha256::new();
        let caller = self
            .caller
            .name()
            .map_or("-".to_owned(), |it| format!("+{it}"));
        // The arguments may be written differently the second time, and are the same arguments.
        let arguments: Value = serde_json::from_str(self.arguments).unwrap_or_default();
        let arguments = toolwright_schema::canonical_json(&arguments);
        for part in [self.method, self.name, &caller, &arguments] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        URL_SAFE_NO_PAD.encode(digest.finalize())
    }
}

/// Makes 32 hexadecimal digits that nobody can guess.
pub(crate) fn random_hex() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(u64::MAX, whole_millis)
}
