//! Pieces in, each to the call it belongs to.

use toolwright_chat::ModelEvent;

use super::CallDelta;
use super::pending_call::PendingCall;
use crate::limits::MAX_CALLS;

/// Calls that are being put together.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    pub(super) calls: Vec<PendingCall>,
    pub(super) id_seed: String,
    /// Counts frames.
    pub(super) frame_number: u64,
    /// Counts pieces.
    delta_number: u64,
    started_count: usize,
    /// Whether calls were left out.
    pub(super) exceeds_limit: bool,
}

/// How a piece goes with a call.
enum DeltaMatch {
    /// It is more of it.
    Continues,
    /// It is the same once again.
    Repeats,
    /// It belongs to another one.
    OtherCall,
    /// A new call begins; it is named by this piece, or was by the one before.
    StartsNewCall(Option<String>),
}

impl PendingCalls {
    pub(super) fn add_delta(&mut self, piece: CallDelta) {
        self.delta_number += 1;
        let mut name = None;
        for place in self.candidates_for(&piece) {
            let Some(call) = self.calls.get(place) else {
                continue;
            };
            match self.match_delta(call, &piece) {
                DeltaMatch::Continues => {
                    let (clock, round) = (self.delta_number, self.frame_number);
                    if let Some(call) = self.calls.get_mut(place) {
                        call.append_delta(piece, clock, round);
                    }
                    return;
                }
                DeltaMatch::Repeats => return,
                DeltaMatch::OtherCall => {}
                DeltaMatch::StartsNewCall(named) => {
                    name = named;
                    if let Some(call) = self.calls.get_mut(place) {
                        call.name_repeated = false;
                    }
                    break;
                }
            }
        }
        if piece.id.is_none()
            && piece.name.is_none()
            && piece.has_blank_arguments()
            && piece.extra_fields.is_empty()
        {
            return;
        }
        if self.calls.len() >= MAX_CALLS {
            self.exceeds_limit = true;
            return;
        }
        let mut call = PendingCall {
            name,
            ..PendingCall::default()
        };
        call.append_delta(piece, self.delta_number, self.frame_number);
        self.calls.push(call);
    }

    /// The calls that a piece may belong to: best labelled first, and of those the one that went on last.
    fn candidates_for(&self, piece: &CallDelta) -> Vec<usize> {
        let last = self.calls.iter().map(|call| call.last_delta_number).max();
        let mut ranked: Vec<(u8, u64, usize)> = Vec::new();
        for (place, call) in self.calls.iter().enumerate() {
            let by_id = call.matches_id(piece);
            let by_index = call.matches_index(piece);
            let by_name =
                piece.name.is_some() && call.name == piece.name && !call.scanner.is_complete();
            let rank = match (by_id, by_index) {
                (true, true) => 3,
                (true, false) => 2,
                (false, true) => 1,
                (false, false) if by_name || Some(call.last_delta_number) == last => 0,
                (false, false) => continue,
            };
            ranked.push((rank, call.last_delta_number, place));
        }
        ranked.sort_by(|one, other| other.cmp(one));
        ranked.into_iter().map(|(_, _, place)| place).collect()
    }

    fn match_delta(&self, call: &PendingCall, piece: &CallDelta) -> DeltaMatch {
        let named = piece.name.is_some();
        if named && call.name.is_some() && call.name != piece.name {
            return DeltaMatch::OtherCall;
        }
        let same_id = call.matches_id(piece);
        let whole = call.scanner.is_complete();
        let empty = call.arguments.trim().is_empty();
        // Nobody splits a call within one frame and names it twice.
        if named && !same_id && call.named_in_frame == self.frame_number && (whole || empty) {
            return DeltaMatch::OtherCall;
        }
        let strange_index = piece.index.is_some() && !call.matches_index(piece);
        let labelled = same_id || call.matches_index(piece);
        if same_id {
            return self.match_delta_of_same_id(call, piece, strange_index);
        }
        if let Some(id) = &piece.id {
            let known = self.calls.iter().any(|call| call.id.as_ref() == Some(id));
            let late = call.id.is_none() && labelled && !whole;
            // A new id for every piece is a habit of some; a call they begin has a name.
            let makeshift = !named && !known && !whole && (labelled || !piece.arguments.is_empty());
            return if late || makeshift {
                DeltaMatch::Continues
            } else {
                DeltaMatch::OtherCall
            };
        }
        if !labelled && piece.index.is_some() && !call.indexes.is_empty() {
            // Only a call that goes on can change its index; one that begins has a name.
            let goes_on =
                !(named || piece.arguments.is_empty() || whole && piece.starts_arguments());
            return if goes_on {
                DeltaMatch::Continues
            } else {
                DeltaMatch::OtherCall
            };
        }
        if whole && piece.starts_arguments() {
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
        if whole && !named && !piece.arguments.is_empty() && unfinished_elsewhere() {
            return DeltaMatch::OtherCall;
        }
        DeltaMatch::Continues
    }

    fn match_delta_of_same_id(
        &self,
        call: &PendingCall,
        piece: &CallDelta,
        strange_index: bool,
    ) -> DeltaMatch {
        if !piece.starts_arguments() && !piece.has_blank_arguments() {
            return DeltaMatch::Continues;
        }
        let named = piece.name.is_some();
        if strange_index && named {
            return DeltaMatch::StartsNewCall(None);
        }
        if !call.scanner.is_complete() || piece.has_blank_arguments() {
            return DeltaMatch::Continues;
        }
        if !named {
            return match call.name_repeated {
                true => DeltaMatch::StartsNewCall(call.name.clone()),
                false => DeltaMatch::Continues,
            };
        }
        let last = self.calls.iter().map(|call| call.last_delta_number).max();
        let again = piece.arguments.trim() == call.arguments.trim();
        if again && !call.name_repeated && Some(call.last_delta_number) == last {
            DeltaMatch::Repeats
        } else {
            DeltaMatch::StartsNewCall(None)
        }
    }

    /// Tells what is new: calls that begin, and more of their arguments.
    pub(super) fn take_new_events(&mut self, all: bool) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        // An id may still come with the next piece, but not once a later call has begun.
        let known = self
            .calls
            .iter()
            .rposition(|call| all || call.id.is_some() || !call.arguments.trim().is_empty());
        for place in 0..self.calls.len() {
            let Some(call) = self.calls.get(place) else {
                continue;
            };
            if call.emitted_index.is_none() && call.name.is_some() && Some(place) <= known {
                let given = self.unique_id(call.id.as_deref());
                let started = self.started_count;
                self.started_count += 1;
                if let Some(call) = self.calls.get_mut(place) {
                    call.emitted_index = Some(started);
                    call.emitted_id.clone_from(&given);
                    events.push(ModelEvent::CallBegins {
                        index: started,
                        id: given.into(),
                        name: call.name.clone().unwrap_or_default().into(),
                    });
                }
            }
            if let Some(call) = self.calls.get_mut(place)
                && let Some(index) = call.emitted_index
                && let Some(delta) = call
                    .arguments
                    .get(call.emitted_bytes..)
                    .filter(|d| !d.is_empty())
            {
                let delta = delta.to_owned();
                call.emitted_bytes = call.arguments.len();
                events.push(ModelEvent::CallDelta { index, delta });
            }
        }
        events
    }

    /// The id that a call goes by: the vendor's, unless there is none or another call has it.
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
