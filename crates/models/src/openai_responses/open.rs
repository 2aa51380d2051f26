//! The output items of an answer while they come, and which of them a frame means.
//!
//! Neither ids nor places can be relied on: servers leave out either, and some gateways make up a new id for each frame.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::wire::{Frame, Item};

/// An output item that has begun, and perhaps ended.
#[derive(Default)]
pub(super) struct Open {
    pub(super) kind: Kind,
    /// Where it stands in the output, if that was said.
    pub(super) place: Option<u64>,
    pub(super) id: String,
    pub(super) call: String,
    pub(super) name: String,
    /// The item as it was announced.
    pub(super) announced: Option<Map<String, Value>>,
    /// What deltas brought: text, reasoning or arguments.
    pub(super) text: String,
    pub(super) refusal: String,
    /// Which call it is, once it has been told.
    pub(super) index: Option<usize>,
    /// Whether its arguments have been told as they came.
    pub(super) heard: bool,
    pub(super) done: bool,
}

impl Open {
    /// What a message says, as the API writes it.
    pub(super) fn content(&self) -> Value {
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
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
    #[default]
    Other,
}

impl Kind {
    pub(super) fn of(kind: Option<&str>) -> Self {
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
pub(super) struct Items(Vec<Open>);

impl Items {
    /// Whether an item of that id is on its way.
    pub(super) fn has_begun(&self, id: &str) -> bool {
        !id.is_empty() && self.0.iter().any(|open| !open.done && open.id == id)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn begin(&mut self, open: Open) {
        self.0.push(open);
    }

    /// The item that a delta belongs to, begun if nobody announced it.
    #[expect(
        clippy::indexing_slicing,
        reason = "the place is found or pushed just before"
    )]
    pub(super) fn opened(&mut self, kind: Kind, frame: &Frame<'_>) -> &mut Open {
        let id = frame.item_id.as_deref().unwrap_or_default();
        let running = |open: &Open| !open.done && open.kind == kind;
        let named = |open: &Open| !id.is_empty() && (open.id == id || open.call == id);
        let placed = |open: &Open| frame.output_index.is_some() && open.place == frame.output_index;
        let told = frame.output_index.is_some();
        let at = self.position(|open| running(open) && named(open));
        // Some gateways make up a new id for each frame: then the place tells, and without it what began last.
        let at = at.or_else(|| self.position(|open| running(open) && placed(open)));
        let at = at.or_else(|| {
            let last = |open: &Open| running(open) && !(told && open.place.is_some());
            self.0.iter().rposition(last)
        });
        let at = at.unwrap_or_else(|| {
            self.0.push(Open {
                kind,
                place: frame.output_index,
                id: id.to_owned(),
                ..Open::default()
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    fn position(&self, is: impl Fn(&Open) -> bool) -> Option<usize> {
        self.0.iter().position(is)
    }

    /// What was begun for an item that is whole now, and where it goes back; nothing if it has been told.
    pub(super) fn take(&mut self, item: &Item, place: Option<u64>) -> Option<(usize, Open)> {
        let kind = Kind::of(item.kind.as_deref());
        let id = item.id.as_deref().unwrap_or_default();
        let call = item.call_id.as_deref().unwrap_or_default();
        let told = |open: &Open| open.done && open.kind == kind;
        if !id.is_empty() && self.0.iter().any(|open| told(open) && open.id == id) {
            return None;
        }
        let running = |open: &Open| !open.done && open.kind == kind;
        let named = |open: &Open| !id.is_empty() && open.id == id;
        let called = |open: &Open| !call.is_empty() && open.call == call;
        let placed = |open: &Open| place.is_some() && open.place == place;
        // Without any of these the order tells.
        let next = |open: &Open| {
            (place.is_none() || open.place.is_none())
                && (kind != Kind::Call || open.call.is_empty() || call.is_empty())
        };
        let at = self
            .position(|open| running(open) && named(open))
            .or_else(|| self.position(|open| running(open) && called(open)))
            .or_else(|| self.position(|open| running(open) && placed(open)))
            .or_else(|| self.position(|open| running(open) && next(open)));
        let mut open = at.map_or_else(Open::default, |at| self.0.remove(at));
        open.kind = kind;
        open.place = place.or(open.place);
        open.done = true;
        if !id.is_empty() {
            id.clone_into(&mut open.id);
        }
        if !call.is_empty() {
            call.clone_into(&mut open.call);
        }
        Some((at.unwrap_or(self.0.len()), open))
    }

    pub(super) fn put_back(&mut self, at: usize, open: Open) {
        self.0.insert(at.min(self.0.len()), open);
    }

    /// How many have been told.
    pub(super) fn told(&self) -> usize {
        self.0.iter().filter(|open| open.done).count()
    }

    /// Whether an item of the list at the end has been told before.
    pub(super) fn is_told(&self, raw: &RawValue, place: Option<u64>) -> bool {
        let item: Item = serde_json::from_str(raw.get()).unwrap_or_default();
        let kind = Kind::of(item.kind.as_deref());
        let same = |mine: &str, theirs: &Option<String>| {
            !mine.is_empty() && theirs.as_deref() == Some(mine)
        };
        self.0.iter().any(|open| {
            open.done
                && open.kind == kind
                && (same(&open.id, &item.id)
                    || same(&open.call, &item.call_id)
                    || (open.place.is_some() && open.place == place))
        })
    }

    /// Takes those that never became whole.
    pub(super) fn unfinished(&mut self) -> Vec<Open> {
        let items = std::mem::take(&mut self.0).into_iter();
        items.filter(|open| !open.done).collect()
    }
}
