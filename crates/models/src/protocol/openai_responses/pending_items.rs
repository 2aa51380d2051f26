//! The output items of a response while they are streamed, and which of them a frame belongs to.
//!
//! Neither ids nor output indexes are reliable: servers omit either, and some gateways generate a new id for each frame.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::wire::{Frame, Item};

use crate::protocol::json::{JsonObject, parse_object};

/// The type of a call of a custom tool.
pub(super) const CUSTOM_CALL: &str = "custom_tool_call";

/// An output item that has started, and may be done.
#[derive(Default)]
pub(super) struct PendingItem {
    pub(super) kind: PendingKind,
    /// Its position in the output, if a frame had it.
    pub(super) output_index: Option<u64>,
    pub(super) id: String,
    pub(super) call_id: String,
    pub(super) name: String,
    /// The item in its `response.output_item.added`.
    pub(super) added_item: Option<JsonObject>,
    /// The deltas so far: text, reasoning or arguments.
    pub(super) text: String,
    pub(super) refusal: String,
    /// Its index among the calls, once its start was emitted.
    pub(super) call_index: Option<usize>,
    /// Whether it is a call of a custom tool: its deltas are a text.
    pub(super) is_custom: bool,
    /// Whether deltas of its arguments were emitted.
    pub(super) arguments_streamed: bool,
    pub(super) is_done: bool,
}

impl PendingItem {
    fn is_pending(&self, kind: PendingKind) -> bool {
        !self.is_done && self.kind == kind
    }

    /// The content of a message, as the API writes it.
    pub(super) fn content_parts(&self) -> Value {
        let mut parts = Vec::new();
        if !self.text.is_empty() {
            parts.push(json!({"type": "output_text", "text": self.text, "annotations": []}));
        }
        if !self.refusal.is_empty() {
            parts.push(json!({"type": "refusal", "refusal": self.refusal}));
        }
        Value::Array(parts)
    }
}

/// The kind of an item, which decides the events of its deltas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PendingKind {
    Message,
    Reasoning,
    Call,
    #[default]
    Other,
}

impl PendingKind {
    pub(super) fn from_type(kind: &str) -> Self {
        match kind {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" | CUSTOM_CALL => Self::Call,
            _ => Self::Other,
        }
    }
}

/// The items that have started, in this order.
#[derive(Default)]
pub(super) struct PendingItems(Vec<PendingItem>);

impl PendingItems {
    /// Returns true if an item with this id has started and is not done.
    pub(super) fn has_pending(&self, id: &str) -> bool {
        !id.is_empty() && self.0.iter().any(|pending| !pending.is_done && pending.id == id)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, pending: PendingItem) {
        self.0.push(pending);
    }

    /// The item that a delta belongs to; a new one if there was no `response.output_item.added`.
    #[expect(clippy::indexing_slicing, reason = "the index is found or pushed just before")]
    pub(super) fn find_or_insert(
        &mut self,
        kind: PendingKind,
        frame: &Frame<'_>,
    ) -> &mut PendingItem {
        let id = &*frame.item_id;
        let output_index = frame.output_index;
        let has_id =
            |pending: &PendingItem| !id.is_empty() && (pending.id == id || pending.call_id == id);
        let index = self
            .find_pending(kind, has_id)
            // If the id is unknown the output index decides, and without it the item that started last.
            .or_else(|| self.find_by_output_index(kind, output_index))
            .or_else(|| {
                self.0.iter().rposition(|pending| {
                    pending.is_pending(kind)
                        && (output_index.is_none() || pending.output_index.is_none())
                })
            });
        let index = index.unwrap_or_else(|| {
            self.0.push(PendingItem {
                kind,
                output_index: frame.output_index,
                id: id.to_owned(),
                ..PendingItem::default()
            });
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    fn find_pending(
        &self,
        kind: PendingKind,
        matches: impl Fn(&PendingItem) -> bool,
    ) -> Option<usize> {
        self.0.iter().position(|pending| pending.is_pending(kind) && matches(pending))
    }

    fn find_by_output_index(&self, kind: PendingKind, output_index: Option<u64>) -> Option<usize> {
        output_index?;
        self.find_pending(kind, |pending| pending.output_index == output_index)
    }

    /// Takes the pending item of an item that is done, with its index for [`Self::put_back`]; `None` if it was done before.
    pub(super) fn take_completed(
        &mut self,
        item: &Item,
        output_index: Option<u64>,
    ) -> Option<(usize, PendingItem)> {
        let kind = PendingKind::from_type(&item.kind);
        let (id, call) = (item.id.as_str(), item.call_id.as_str());
        let done = |pending: &PendingItem| pending.is_done && pending.kind == kind;
        if !id.is_empty() && self.0.iter().any(|pending| done(pending) && pending.id == id) {
            return None;
        }
        let has_id = |pending: &PendingItem| !id.is_empty() && pending.id == id;
        let has_call_id = |pending: &PendingItem| !call.is_empty() && pending.call_id == call;
        // Without any of these the order decides.
        let may_be_next = |pending: &PendingItem| {
            (output_index.is_none() || pending.output_index.is_none())
                && (kind != PendingKind::Call || pending.call_id.is_empty() || call.is_empty())
        };
        let index = self
            .find_pending(kind, has_id)
            .or_else(|| self.find_pending(kind, has_call_id))
            .or_else(|| self.find_by_output_index(kind, output_index))
            .or_else(|| self.find_pending(kind, may_be_next));
        let mut pending = index.map_or_else(PendingItem::default, |index| self.0.remove(index));
        pending.kind = kind;
        pending.output_index = output_index.or(pending.output_index);
        pending.is_done = true;
        if !id.is_empty() {
            id.clone_into(&mut pending.id);
        }
        if !call.is_empty() {
            call.clone_into(&mut pending.call_id);
        }
        Some((index.unwrap_or(self.0.len()), pending))
    }

    pub(super) fn put_back(&mut self, index: usize, pending: PendingItem) {
        self.0.insert(index.min(self.0.len()), pending);
    }

    /// The number of items that are done.
    pub(super) fn done_count(&self) -> usize {
        self.0.iter().filter(|pending| pending.is_done).count()
    }

    /// Returns true if an item in the output of the last frame was done before.
    pub(super) fn is_done(&self, raw: &RawValue, output_index: Option<u64>) -> bool {
        let item: Item = parse_object(raw.get()).unwrap_or_default();
        let kind = PendingKind::from_type(&item.kind);
        let same = |known: &str, other: &str| !known.is_empty() && known == other;
        self.0.iter().any(|pending| {
            pending.is_done
                && pending.kind == kind
                && (same(&pending.id, &item.id)
                    || same(&pending.call_id, &item.call_id)
                    || (pending.output_index.is_some() && pending.output_index == output_index))
        })
    }

    /// Takes the items that are not done.
    pub(super) fn take_unfinished(&mut self) -> Vec<PendingItem> {
        let items = std::mem::take(&mut self.0).into_iter();
        items.filter(|pending| !pending.is_done).collect()
    }
}
