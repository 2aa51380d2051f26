//! Assembles the deltas of streamed tool calls into complete calls.
//!
//! Vendors label deltas with an index and an id, and neither is reliable: some number every call 0, some repeat an id for
//! another call or invent a new one for every delta, some omit both. So neither is a key. Each pending call remembers its
//! labels, and a delta is appended to the best matching call that it does not contradict; a name, and whether the arguments so
//! far are complete JSON, distinguish a new call from the continuation of an old one.

use serde_json::Value;
use toolwright_chat::ModelEvent;

use self::pending_call::PendingCall;
use self::pending_calls::PendingCalls;

use crate::protocol::json::JsonObject;

mod json_scanner;
mod pending_call;
mod pending_calls;
#[cfg(test)]
mod tests;

/// One delta of a call, as received.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallDelta {
    /// The vendor's index of the call.
    pub(crate) index: Option<i64>,
    /// The id of the call; `None` if it is blank.
    pub(crate) id: Option<String>,
    /// The name of the tool; `None` if it is blank.
    pub(crate) name: Option<String>,
    /// The next part of the arguments: text unchanged, any other value as JSON.
    pub(crate) arguments: String,
    /// Other fields of the delta.
    pub(crate) extra_fields: JsonObject,
}

impl CallDelta {
    /// Reads labels and arguments of any JSON type.
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
            extra_fields: JsonObject::new(),
        }
    }

    /// Returns true if the arguments are empty or white space, which cannot start arguments but may be inside a string.
    fn has_blank_arguments(&self) -> bool {
        self.arguments.trim().is_empty()
    }

    /// Returns true if the text can be the start of arguments.
    fn starts_arguments(&self) -> bool {
        self.arguments.trim_start().starts_with(['{', '[', '"'])
    }
}

/// An assembled call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompleteCall {
    /// Its id, generated if the vendor sent none or a duplicate.
    pub(crate) id: String,
    /// The name of the tool; empty if no delta had one.
    pub(crate) name: String,
    /// The arguments exactly as received.
    pub(crate) arguments: String,
    /// Other fields of its deltas.
    pub(crate) extra_fields: JsonObject,
}

/// Assembles the calls of one response.
#[derive(Debug, Default)]
pub(crate) struct CallAssembler {
    calls: PendingCalls,
    /// Calls received as `function_call`: duplicates of `calls`, used only if there are no others.
    legacy_calls: PendingCalls,
}

impl CallAssembler {
    /// Sets the seed of generated ids, so that they differ from those of other responses.
    pub(crate) fn set_id_seed(&mut self, seed: &str) {
        if self.calls.id_seed.is_empty() && !seed.is_empty() {
            let seed = format!("{:08x}_", fnv1a_hash(seed) as u32);
            self.legacy_calls.id_seed.clone_from(&seed);
            self.calls.id_seed = seed;
        }
    }

    /// Adds the deltas of one frame.
    pub(crate) fn add_deltas(
        &mut self,
        deltas: impl IntoIterator<Item = CallDelta>,
    ) -> Vec<ModelEvent> {
        self.calls.frame_number += 1;
        for delta in deltas {
            self.calls.add_delta(delta);
        }
        self.calls.take_new_events(false)
    }

    /// Adds a delta of the legacy `function_call`, which many vendors send beside `tool_calls`.
    pub(crate) fn add_legacy_delta(&mut self, delta: CallDelta) {
        self.legacy_calls.frame_number += 1;
        self.legacy_calls.add_delta(delta);
    }

    /// Returns true if calls were dropped because there were more than `MAX_CALLS`.
    pub(crate) fn exceeds_call_limit(&self) -> bool {
        self.calls.exceeds_limit || self.legacy_calls.exceeds_limit
    }

    /// Returns true if no delta was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.calls.is_empty() && self.legacy_calls.calls.is_empty()
    }

    /// Returns the remaining events, and all calls in the order they were emitted.
    pub(crate) fn finish(&mut self) -> (Vec<ModelEvent>, Vec<CompleteCall>) {
        let legacy = std::mem::take(&mut self.legacy_calls);
        let mut calls = std::mem::take(&mut self.calls);
        if calls.calls.is_empty() {
            calls = legacy;
        }
        let events = calls.take_new_events(true);
        calls.calls.sort_by_key(|call| call.emitted_index.unwrap_or(usize::MAX));
        let complete = calls.calls.into_iter().filter_map(PendingCall::into_complete_call);
        (events, complete.collect())
    }
}

/// FNV-1a, because the hash must be the same on every machine and in every version.
pub(crate) fn fnv1a_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
