//! One call while it is streamed.

use super::json_scanner::JsonScanner;
use super::{CallDelta, CompleteCall};
use crate::limits::MAX_INDEXES_PER_CALL;
use crate::protocol::json::JsonObject;

/// A call to which deltas are still appended.
#[derive(Debug, Default)]
pub(super) struct PendingCall {
    pub(super) indexes: Vec<i64>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: String,
    pub(super) scanner: JsonScanner,
    /// Whether the last delta repeated the name without arguments: a repetition, or the start of another call.
    pub(super) name_repeated: bool,
    pub(super) extra_fields: JsonObject,
    pub(super) named_in_frame: u64,
    pub(super) last_delta_number: u64,
    /// Its index among the emitted calls, once its start was emitted.
    pub(super) emitted_index: Option<usize>,
    /// The id that was emitted for it.
    pub(super) emitted_id: String,
    pub(super) emitted_bytes: usize,
}

impl PendingCall {
    pub(super) fn matches_id(&self, delta: &CallDelta) -> bool {
        delta.id.is_some() && self.id == delta.id
    }

    pub(super) fn matches_index(&self, delta: &CallDelta) -> bool {
        delta.index.is_some_and(|index| self.indexes.contains(&index))
    }

    pub(super) fn append_delta(&mut self, delta: CallDelta, delta_number: u64, frame_number: u64) {
        self.last_delta_number = delta_number;
        let repeats_name = delta.name.is_some() && self.name.is_some();
        if !delta.has_blank_arguments() {
            self.name_repeated = false;
        } else if repeats_name && !self.arguments.trim().is_empty() {
            self.name_repeated = true;
        }
        let has_room = self.indexes.len() < MAX_INDEXES_PER_CALL;
        if let Some(index) = delta.index.filter(|index| has_room && !self.indexes.contains(index)) {
            self.indexes.push(index);
        }
        if delta.name.is_some() {
            self.named_in_frame = frame_number;
            self.name = delta.name.clone();
        }
        if self.id.is_none() {
            self.id.clone_from(&delta.id);
        }
        // Some vendors start with an empty object as a placeholder for the arguments.
        if self.arguments.trim() == "{}" && delta.name.is_none() && delta.starts_arguments() {
            self.arguments.clear();
            self.scanner = JsonScanner::default();
            self.emitted_bytes = 0;
        }
        self.scanner.scan(&delta.arguments);
        self.arguments.push_str(&delta.arguments);
        let extra_fields = delta.extra_fields.into_iter().filter(|(_, value)| !value.is_null());
        self.extra_fields.extend(extra_fields);
    }

    pub(super) fn into_complete_call(self) -> Option<CompleteCall> {
        if self.name.is_none() && self.arguments.is_empty() && self.extra_fields.is_empty() {
            return None;
        }
        Some(CompleteCall {
            id: if self.emitted_index.is_some() {
                self.emitted_id
            } else {
                self.id.unwrap_or_default()
            },
            name: self.name.unwrap_or_default(),
            arguments: self.arguments,
            extra_fields: self.extra_fields,
        })
    }
}
