//! Generated journals: valid, and damaged in every way.

use std::collections::HashMap;

use proptest::prelude::*;
use toolwright::chat::{
    CallMetadata, Entry, EntryBody, Item, ModelId, Step, StopReason, TurnEnd, Usage,
};
use toolwright::{Content, ToolCall, ToolResult};

/// One piece of a journal.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// A valid turn: the number of its calls, and the size of each result.
    Turn {
        calls: usize,
        size: usize,
    },
    User(usize),
    Assistant(usize),
    /// A user message that begins a branch after the entry of this number.
    Branch(usize),
    /// A step with this number of calls, with or without metadata.
    Step {
        calls: usize,
        known: bool,
    },
    /// A step whose metadata is that of another call.
    Foreign,
    Started(usize),
    Finished {
        call: usize,
        size: usize,
    },
    Ended,
}

pub(super) fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => (0..3_usize, 0..900_usize).prop_map(|(calls, size)| Piece::Turn { calls, size }),
        2 => (0..900_usize).prop_map(Piece::User),
        1 => (0..300_usize).prop_map(Piece::Assistant),
        1 => (0..40_usize).prop_map(Piece::Branch),
        2 => (0..4_usize, any::<bool>()).prop_map(|(calls, known)| Piece::Step { calls, known }),
        1 => Just(Piece::Foreign),
        1 => (0..8_usize).prop_map(Piece::Started),
        3 => (0..8_usize, 0..900_usize).prop_map(|(call, size)| Piece::Finished { call, size }),
        1 => Just(Piece::Ended),
    ]
}

impl Piece {
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Turn { .. } | Self::User(_))
    }
}

/// Puts a journal together; calls are numbered, and some numbers come again.
pub(super) fn journal(pieces: &[Piece]) -> Vec<Entry> {
    let (mut bodies, mut branches) = (Vec::new(), HashMap::new());
    let mut next = 0;
    for piece in pieces {
        match *piece {
            Piece::Turn { calls, size } => {
                bodies.push(user(10));
                let ids: Vec<usize> = (0..calls).map(|n| 100 + n).collect();
                bodies.push(step(&ids, &ids));
                bodies.extend(ids.iter().map(|id| EntryBody::CallStarted { call: call(*id) }));
                bodies.extend(ids.iter().map(|id| finished(*id, size)));
                if calls > 0 {
                    bodies.push(step(&[], &[]));
                }
                bodies.push(EntryBody::TurnEnded { end: TurnEnd::Answered });
            }
            Piece::User(size) => bodies.push(user(size)),
            Piece::Assistant(size) => bodies.push(EntryBody::Assistant { content: text(size) }),
            Piece::Branch(after) => {
                branches.insert(bodies.len(), after.to_string());
                bodies.push(user(10));
            }
            Piece::Step { calls, known } => {
                let ids: Vec<usize> = (0..calls).map(|n| (next + n) % 8).collect();
                next += calls;
                bodies.push(step(&ids, if known { &ids } else { &[] }));
            }
            Piece::Foreign => bodies.push(step(&[0], &[9])),
            Piece::Started(id) => bodies.push(EntryBody::CallStarted { call: call(id) }),
            Piece::Finished { call, size } => bodies.push(finished(call, size)),
            Piece::Ended => bodies.push(EntryBody::TurnEnded { end: TurnEnd::Cancelled }),
        }
    }
    let entries = bodies.into_iter().enumerate();
    let entries = entries.map(|(n, body)| {
        let mut entry = Entry::new(n.to_string(), n as u64, body);
        entry.after = branches.remove(&n);
        entry
    });
    entries.collect()
}

fn call(id: usize) -> toolwright::CallId {
    format!("call-{id}").into()
}

fn text(size: usize) -> Vec<Content> {
    vec![Content::text("é".repeat(size / 2))]
}

fn user(size: usize) -> EntryBody {
    EntryBody::User { content: text(size) }
}

fn step(calls: &[usize], known: &[usize]) -> EntryBody {
    let items = calls.iter().map(|id| {
        let call = ToolCall::new("look", r#"{"n": 1}"#);
        Item::call(call.with_id(format!("call-{id}")))
    });
    let mut items: Vec<Item> = items.collect();
    items.push(Item::text("So."));
    let stop = if calls.is_empty() { StopReason::End } else { StopReason::Calls };
    let step = Step::new(ModelId::new("any", ""), items, stop, Usage::default());
    let metadata = known.iter().map(|id| CallMetadata::new(call(*id), "look", ""));
    EntryBody::Step { step: step.into(), calls: metadata.collect(), cost: None }
}

fn finished(id: usize, size: usize) -> EntryBody {
    let mut result = ToolResult::success("x".repeat(size).as_str());
    (result.call_id, result.tool) = (call(id), "look".into());
    EntryBody::CallFinished { result }
}

/// The indexes at which turns start: a message after the end or the first step of the previous turn.
pub(super) fn turns(entries: &[Entry]) -> Vec<usize> {
    let (mut begins, mut over, mut answered) = (Vec::new(), true, false);
    for (at, entry) in entries.iter().enumerate() {
        let begin = match entry.body {
            EntryBody::User { .. } => over || answered,
            EntryBody::Assistant { .. } => over,
            _ => false,
        };
        if begin {
            begins.push(at);
            (over, answered) = (false, false);
        }
        match entry.body {
            EntryBody::Step { .. } => answered = true,
            EntryBody::TurnEnded { .. } => over = true,
            _ => {}
        }
    }
    begins
}
