//! One call while it comes.

use serde_json::{Map, Value};

use super::json_scanner::JsonScanner;
use super::{CallDelta, CompleteCall};
use crate::limits::MAX_INDEXES_PER_CALL;

/// A call that may go on.
#[derive(Debug, Default)]
pub(super) struct PendingCall {
    pub(super) indexes: Vec<i64>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: String,
    pub(super) scanner: JsonScanner,
    /// It was named again without arguments: perhaps a repetition, perhaps the head of another call.
    pub(super) name_repeated: bool,
    pub(super) extra_fields: Map<String, Value>,
    pub(super) named_in_frame: u64,
    pub(super) last_delta_number: u64,
    /// Which of the step's calls it is, once told.
    pub(super) emitted_index: Option<usize>,
    /// The id it was told under.
    pub(super) emitted_id: String,
    pub(super) emitted_bytes: usize,
}

impl PendingCall {
    pub(super) fn matches_id(&self, piece: &CallDelta) -> bool {
        piece.id.is_some() && self.id == piece.id
    }

    pub(super) fn matches_index(&self, piece: &CallDelta) -> bool {
        piece
            .index
            .is_some_and(|index| self.indexes.contains(&index))
    }

    pub(super) fn append_delta(&mut self, piece: CallDelta, clock: u64, round: u64) {
        self.last_delta_number = clock;
        let silent = piece.has_blank_arguments();
        let again = piece.name.is_some() && self.name.is_some();
        if !silent {
            self.name_repeated = false;
        } else if again && !self.arguments.trim().is_empty() {
            self.name_repeated = true;
        }
        let room = self.indexes.len() < MAX_INDEXES_PER_CALL;
        if let Some(index) = piece
            .index
            .filter(|index| room && !self.indexes.contains(index))
        {
            self.indexes.push(index);
        }
        if piece.name.is_some() {
            self.named_in_frame = round;
            self.name = piece.name.clone();
        }
        if self.id.is_none() {
            self.id.clone_from(&piece.id);
        }
        // Some begin with an empty object and mean that the arguments are to come.
        if self.arguments.trim() == "{}" && piece.name.is_none() && piece.starts_arguments() {
            self.arguments.clear();
            self.scanner = JsonScanner::default();
            self.emitted_bytes = 0;
        }
        self.scanner.scan(&piece.arguments);
        self.arguments.push_str(&piece.arguments);
        let news = piece
            .extra_fields
            .into_iter()
            .filter(|(_, value)| !value.is_null());
        self.extra_fields.extend(news);
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
