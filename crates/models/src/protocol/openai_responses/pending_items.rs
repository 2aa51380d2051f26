//! The output items of an answer while they come, and which of them a frame means.
//!
//! Neither ids nor places can be relied on: servers leave out either, and some gateways make up a new id for each frame.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::wire::{Frame, Item};

/// An output item that has begun, and perhaps ended.
#[derive(Default)]
pub(super) struct PendingItem {
    pub(super) kind: PendingKind,
    /// Where it stands in the output, if that was said.
    pub(super) output_index: Option<u64>,
    pub(super) id: String,
    pub(super) call_id: String,
    pub(super) name: String,
    /// The item as it was announced.
    pub(super) added_item: Option<Map<String, Value>>,
    /// What deltas brought: text, reasoning or arguments.
    pub(super) text: String,
    pub(super) refusal: String,
    /// Which call it is, once it has been told.
    pub(super) call_index: Option<usize>,
    /// Whether its arguments have been told as they came.
    pub(super) arguments_streamed: bool,
    pub(super) is_done: bool,
}

impl PendingItem {
    /// What a message says, as the API writes it.
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

/// What is told of an item while it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PendingKind {
    Message,
    Reasoning,
    Call,
    #[default]
    Other,
}

impl PendingKind {
    pub(super) fn from_type(kind: Option<&str>) -> Self {
        match kind {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("function_call") => Self::Call,
            _ => Self::Other,
        }
    }
}

/// The items that have begun, in the order they did.
#[derive(Default)]
pub(super) struct PendingItems(Vec<PendingItem>);

impl PendingItems {
    /// Whether an item of that id is on its way.
    pub(super) fn has_pending(&self, id: &str) -> bool {
        !id.is_empty() && self.0.iter().any(|open| !open.is_done && open.id == id)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, open: PendingItem) {
        self.0.push(open);
    }

    /// The item that a delta belongs to, begun if nobody announced it.
    #[expect(
        clippy::indexing_slicing,
        reason = "the place is found or pushed just before"
    )]
    pub(super) fn find_or_insert(
        &mut self,
        kind: PendingKind,
        frame: &Frame<'_>,
    ) -> &mut PendingItem {
        let id = frame.item_id.as_deref().unwrap_or_default();
        let running = |open: &PendingItem| !open.is_done && open.kind == kind;
        let named = |open: &PendingItem| !id.is_empty() && (open.id == id || open.call_id == id);
        let placed = |open: &PendingItem| {
            frame.output_index.is_some() && open.output_index == frame.output_index
        };
        let told = frame.output_index.is_some();
        let at = self.position(|open| running(open) && named(open));
        // Some gateways make up a new id for each frame: then the place tells, and without it what began last.
        let at = at.or_else(|| self.position(|open| running(open) && placed(open)));
        let at = at.or_else(|| {
            let last = |open: &PendingItem| running(open) && !(told && open.output_index.is_some());
            self.0.iter().rposition(last)
        });
        let at = at.unwrap_or_else(|| {
            self.0.push(PendingItem {
                kind,
                output_index: frame.output_index,
                id: id.to_owned(),
                ..PendingItem::default()
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    fn position(&self, is: impl Fn(&PendingItem) -> bool) -> Option<usize> {
        self.0.iter().position(is)
    }

    /// What was begun for an item that is whole now, and where it goes back; nothing if it has been told.
    pub(super) fn take_completed(
        &mut self,
        item: &Item,
        place: Option<u64>,
    ) -> Option<(usize, PendingItem)> {
        let kind = PendingKind::from_type(item.kind.as_deref());
        let id = item.id.as_deref().unwrap_or_default();
        let call = item.call_id.as_deref().unwrap_or_default();
        let told = |open: &PendingItem| open.is_done && open.kind == kind;
        if !id.is_empty() && self.0.iter().any(|open| told(open) && open.id == id) {
            return None;
        }
        let running = |open: &PendingItem| !open.is_done && open.kind == kind;
        let named = |open: &PendingItem| !id.is_empty() && open.id == id;
        let called = |open: &PendingItem| !call.is_empty() && open.call_id == call;
        let placed = |open: &PendingItem| place.is_some() && open.output_index == place;
        // Without any of these the order tells.
        let next = |open: &PendingItem| {
            (place.is_none() || open.output_index.is_none())
                && (kind != PendingKind::Call || open.call_id.is_empty() || call.is_empty())
        };
        let at = self
            .position(|open| running(open) && named(open))
            .or_else(|| self.position(|open| running(open) && called(open)))
            .or_else(|| self.position(|open| running(open) && placed(open)))
            .or_else(|| self.position(|open| running(open) && next(open)));
        let mut open = at.map_or_else(PendingItem::default, |at| self.0.remove(at));
        open.kind = kind;
        open.output_index = place.or(open.output_index);
        open.is_done = true;
        if !id.is_empty() {
            id.clone_into(&mut open.id);
        }
        if !call.is_empty() {
            call.clone_into(&mut open.call_id);
        }
        Some((at.unwrap_or(self.0.len()), open))
    }

    pub(super) fn put_back(&mut self, at: usize, open: PendingItem) {
        self.0.insert(at.min(self.0.len()), open);
    }

    /// How many have been told.
    pub(super) fn done_count(&self) -> usize {
        self.0.iter().filter(|open| open.is_done).count()
    }

    /// Whether an item of the list at the end has been told before.
    pub(super) fn is_done(&self, raw: &RawValue, place: Option<u64>) -> bool {
        let item: Item = serde_json::from_str(raw.get()).unwrap_or_default();
        let kind = PendingKind::from_type(item.kind.as_deref());
        let same = |mine: &str, theirs: &Option<String>| {
            !mine.is_empty() && theirs.as_deref() == Some(mine)
        };
        self.0.iter().any(|open| {
            open.is_done
                && open.kind == kind
                && (same(&open.id, &item.id)
                    || same(&open.call_id, &item.call_id)
                    || (open.output_index.is_some() && open.output_index == place))
        })
    }

    /// Takes those that never became whole.
    pub(super) fn take_unfinished(&mut self) -> Vec<PendingItem> {
        let items = std::mem::take(&mut self.0).into_iter();
        items.filter(|open| !open.is_done).collect()
    }
}
