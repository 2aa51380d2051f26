//! Appends each delta to the call it belongs to.

use toolwright_chat::ModelEvent;

use super::CallDelta;
use super::pending_call::PendingCall;
use crate::limits::MAX_CALLS;

/// The calls of a response, complete or not.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    pub(super) calls: Vec<PendingCall>,
    pub(super) id_seed: String,
    /// The number of the current frame.
    pub(super) frame_number: u64,
    /// The number of the current delta.
    delta_number: u64,
    started_count: usize,
    /// Whether calls were dropped because of `MAX_CALLS`.
    pub(super) exceeds_limit: bool,
}

/// How a delta relates to a pending call.
enum DeltaMatch {
    /// Continues the call.
    Continues,
    /// Repeats a complete call, and is dropped.
    Repeats,
    /// Belongs to another call.
    OtherCall,
    /// Starts a new call; with a name if the previous delta had it.
    StartsNewCall(Option<String>),
}

impl PendingCalls {
    pub(super) fn add_delta(&mut self, delta: CallDelta) {
        self.delta_number += 1;
        let mut name = None;
        for index in self.candidates_for(&delta) {
            let Some(call) = self.calls.get(index) else {
                continue;
            };
            match self.match_delta(call, &delta) {
                DeltaMatch::Continues => {
                    if let Some(call) = self.calls.get_mut(index) {
                        call.append_delta(delta, self.delta_number, self.frame_number);
                    }
                    return;
                }
                DeltaMatch::Repeats => return,
                DeltaMatch::OtherCall => {}
                DeltaMatch::StartsNewCall(repeated_name) => {
                    name = repeated_name;
                    if let Some(call) = self.calls.get_mut(index) {
                        call.name_repeated = false;
                    }
                    break;
                }
            }
        }
        if delta.id.is_none()
            && delta.name.is_none()
            && delta.has_blank_arguments()
            && delta.extra_fields.is_empty()
        {
            return;
        }
        if self.calls.len() >= MAX_CALLS {
            self.exceeds_limit = true;
            return;
        }
        let mut call = PendingCall { name, ..PendingCall::default() };
        call.append_delta(delta, self.delta_number, self.frame_number);
        self.calls.push(call);
    }

    /// The calls that a delta may belong to: the best matching labels first, then the latest delta.
    fn candidates_for(&self, delta: &CallDelta) -> Vec<usize> {
        let last = self.calls.iter().map(|call| call.last_delta_number).max();
        let mut ranked: Vec<(u8, u64, usize)> = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            let by_id = call.matches_id(delta);
            let by_index = call.matches_index(delta);
            let by_name =
                delta.name.is_some() && call.name == delta.name && !call.scanner.is_complete();
            let rank = match (by_id, by_index) {
                (true, true) => 3,
                (true, false) => 2,
                (false, true) => 1,
                (false, false) if by_name || Some(call.last_delta_number) == last => 0,
                (false, false) => continue,
            };
            ranked.push((rank, call.last_delta_number, index));
        }
        ranked.sort_by(|one, other| other.cmp(one));
        ranked.into_iter().map(|(_, _, index)| index).collect()
    }

    fn match_delta(&self, call: &PendingCall, delta: &CallDelta) -> DeltaMatch {
        let named = delta.name.is_some();
        if named && call.name.is_some() && call.name != delta.name {
            return DeltaMatch::OtherCall;
        }
        let same_id = call.matches_id(delta);
        let complete = call.scanner.is_complete();
        let empty = call.arguments.trim().is_empty();
        // No vendor splits a call within one frame and names it twice.
        if named && !same_id && call.named_in_frame == self.frame_number && (complete || empty) {
            return DeltaMatch::OtherCall;
        }
        let matches_index = call.matches_index(delta);
        if same_id {
            return self.match_delta_of_same_id(call, delta);
        }
        if let Some(id) = &delta.id {
            let known = self.calls.iter().any(|call| call.id.as_ref() == Some(id));
            let late = call.id.is_none() && matches_index && !complete;
            // Some vendors send a new id with every delta; their first delta of a call has a name.
            let changing =
                !named && !known && !complete && (matches_index || !delta.arguments.is_empty());
            return if late || changing { DeltaMatch::Continues } else { DeltaMatch::OtherCall };
        }
        if !matches_index && delta.index.is_some() && !call.indexes.is_empty() {
            // Only the continuation of a call can have another index; the start of a call has a name.
            let continues =
                !(named || delta.arguments.is_empty() || complete && delta.starts_arguments());
            return if continues { DeltaMatch::Continues } else { DeltaMatch::OtherCall };
        }
        if complete && delta.starts_arguments() {
            if named {
                return DeltaMatch::StartsNewCall(None);
            }
            if call.name_repeated {
                return DeltaMatch::StartsNewCall(call.name.clone());
            }
        }
        let unfinished_elsewhere = || {
            let last = self.calls.iter().max_by_key(|call| call.last_delta_number);
            last.is_some_and(|last| {
                last.last_delta_number != call.last_delta_number && !last.scanner.is_complete()
            })
        };
        if complete && !named && !delta.arguments.is_empty() && unfinished_elsewhere() {
            return DeltaMatch::OtherCall;
        }
        DeltaMatch::Continues
    }

    fn match_delta_of_same_id(&self, call: &PendingCall, delta: &CallDelta) -> DeltaMatch {
        if !delta.starts_arguments() && !delta.has_blank_arguments() {
            return DeltaMatch::Continues;
        }
        let named = delta.name.is_some();
        let other_index = delta.index.is_some() && !call.matches_index(delta);
        if other_index && named {
            return DeltaMatch::StartsNewCall(None);
        }
        if !call.scanner.is_complete() || delta.has_blank_arguments() {
            return DeltaMatch::Continues;
        }
        if !named {
            return match call.name_repeated {
                true => DeltaMatch::StartsNewCall(call.name.clone()),
                false => DeltaMatch::Continues,
            };
        }
        let last = self.calls.iter().map(|call| call.last_delta_number).max();
        let same_arguments = delta.arguments.trim() == call.arguments.trim();
        if same_arguments && !call.name_repeated && Some(call.last_delta_number) == last {
            DeltaMatch::Repeats
        } else {
            DeltaMatch::StartsNewCall(None)
        }
    }

    /// Returns the events since the last call: calls that start, and deltas of their arguments.
    pub(super) fn take_new_events(&mut self, all: bool) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        // An id may still come with the next delta, but not after a later call has started.
        let known = self
            .calls
            .iter()
            .rposition(|call| all || call.id.is_some() || !call.arguments.trim().is_empty());
        for index in 0..self.calls.len() {
            let Some(call) = self.calls.get(index) else {
                continue;
            };
            if call.emitted_index.is_none() && call.name.is_some() && Some(index) <= known {
                let id = self.unique_id(call.id.as_deref());
                let started = self.started_count;
                self.started_count += 1;
                if let Some(call) = self.calls.get_mut(index) {
                    call.emitted_index = Some(started);
                    call.emitted_id.clone_from(&id);
                    events.push(ModelEvent::CallBegins {
                        index: started,
                        id: id.into(),
                        name: call.name.clone().unwrap_or_default().into(),
                    });
                }
            }
            if let Some(call) = self.calls.get_mut(index)
                && let Some(index) = call.emitted_index
                && let Some(delta) =
                    call.arguments.get(call.emitted_bytes..).filter(|d| !d.is_empty())
            {
                let delta = delta.to_owned();
                call.emitted_bytes = call.arguments.len();
                events.push(ModelEvent::CallDelta { index, delta });
            }
        }
        events
    }

    /// The id that is emitted for a call: the vendor's, unless it is missing or taken by another call.
    fn unique_id(&self, sent: Option<&str>) -> String {
        let taken = |id: &str| self.calls.iter().any(|call| call.emitted_id == id);
        if let Some(id) = sent.filter(|id| !taken(id)) {
            return id.to_owned();
        }
        let mut id = format!("call_{}{}", self.id_seed, self.started_count);
        while taken(&id) {
            id.push('x');
        }
        id
    }
}
