//! Pieces of streamed tool calls in, whole calls out.
//!
//! Vendors label the pieces with an index and an id, and neither can be trusted: some number every call 0, some repeat an id
//! for another call or make up a new one for every piece, some leave both out. So calls are stored under neither. Each learns
//! the labels that were used for it, and a piece goes to the best labelled call that it does not contradict; a name, and
//! whether the arguments so far are whole, tell a new call from more of an old one.

use serde_json::{Map, Value};
use toolwright_chat::ModelEvent;

use self::pending_call::PendingCall;
use self::pending_calls::PendingCalls;

mod json_scanner;
mod pending_call;
mod pending_calls;
#[cfg(test)]
mod tests;

/// One piece of a call, as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallDelta {
    /// Which call it is said to belong to.
    pub(crate) index: Option<i64>,
    /// The id of the call, or nothing if it is blank.
    pub(crate) id: Option<String>,
    /// The tool, or nothing if it is blank.
    pub(crate) name: Option<String>,
    /// More of the arguments: text as it is, anything else written as JSON.
    pub(crate) arguments: String,
    /// What else the vendor says of the call.
    pub(crate) extra_fields: Map<String, Value>,
}

impl CallDelta {
    /// Reads labels and arguments, whatever they are.
    pub(crate) fn new(
        index: Option<&Value>,
        id: Option<&Value>,
        name: Option<&Value>,
        arguments: Option<Value>,
    ) -> Self {
        let text = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str)?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        Self {
            index: index.and_then(|index| match index {
                Value::String(digits) => digits.parse().ok(),
                other => other.as_i64(),
            }),
            id: text(id),
            name: text(name),
            arguments: match arguments {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
            },
            extra_fields: Map::new(),
        }
    }

    /// Whether it says nothing of the arguments that could begin them; within a text, white space is something.
    fn has_blank_arguments(&self) -> bool {
        self.arguments.trim().is_empty()
    }

    /// Whether its text could be the beginning of arguments.
    fn starts_arguments(&self) -> bool {
        self.arguments.trim_start().starts_with(['{', '[', '"'])
    }
}

/// A call that is whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompleteCall {
    /// Its id, made up if the vendor gave none of its own.
    pub(crate) id: String,
    /// The tool; empty if it was never named.
    pub(crate) name: String,
    /// The arguments exactly as they were sent.
    pub(crate) arguments: String,
    /// What else the vendor said of it.
    pub(crate) extra_fields: Map<String, Value>,
}

/// Puts the calls of one step together.
#[derive(Debug, Default)]
pub(crate) struct CallAssembler {
    calls: PendingCalls,
    /// What came as `function_call`: the same calls again, unless there are no others.
    legacy_calls: PendingCalls,
}

impl CallAssembler {
    /// Gives what made-up ids are made of, so that they differ from those of other steps.
    pub(crate) fn set_id_seed(&mut self, seed: &str) {
        if self.calls.id_seed.is_empty() && !seed.is_empty() {
            let seed = format!("{:08x}_", fnv1a_hash(seed) as u32);
            self.legacy_calls.id_seed.clone_from(&seed);
            self.calls.id_seed = seed;
        }
    }

    /// Takes the pieces that one frame carries.
    pub(crate) fn add_deltas(
        &mut self,
        pieces: impl IntoIterator<Item = CallDelta>,
    ) -> Vec<ModelEvent> {
        self.calls.frame_number += 1;
        for piece in pieces {
            self.calls.add_delta(piece);
        }
        self.calls.take_new_events(false)
    }

    /// Takes what came as the older `function_call`, which many send beside `tool_calls`.
    pub(crate) fn add_legacy_delta(&mut self, piece: CallDelta) {
        self.legacy_calls.frame_number += 1;
        self.legacy_calls.add_delta(piece);
    }

    /// Whether there were more calls than any answer has; those beyond are not kept.
    pub(crate) fn exceeds_call_limit(&self) -> bool {
        self.calls.exceeds_limit || self.legacy_calls.exceeds_limit
    }

    /// Whether any piece has come.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.calls.is_empty() && self.legacy_calls.calls.is_empty()
    }

    /// Ends all calls, in the order they were told: what is still to tell, and the calls.
    pub(crate) fn finish(&mut self) -> (Vec<ModelEvent>, Vec<CompleteCall>) {
        let legacy = std::mem::take(&mut self.legacy_calls);
        let mut calls = std::mem::take(&mut self.calls);
        if calls.calls.is_empty() {
            calls = legacy;
        }
        let events = calls.take_new_events(true);
        calls
            .calls
            .sort_by_key(|call| call.emitted_index.unwrap_or(usize::MAX));
        let whole = calls
            .calls
            .into_iter()
            .filter_map(PendingCall::into_complete_call);
        (events, whole.collect())
    }
}

/// A number that a text always comes to, on every machine and in every version.
pub(crate) fn fnv1a_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
