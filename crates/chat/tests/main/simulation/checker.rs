//! Checks what clients, tools and subscribers have observed against the journals at the end.

use std::cell::RefCell;
use std::collections::BTreeMap;

use toolwright_chat::{Entry, EntryBody, TurnEnd, TurnStatus, is_turn_over, repair_journal};
use toolwright_core::Outcome;

use super::model::runs_once;
use super::store::Conversation;
use super::world::{History, World};

/// Returns what is wrong.
pub(crate) fn check(world: &World) -> Vec<String> {
    let disk = world.disk.lock().unwrap();
    let history = world.history.lock().unwrap();
    let mut failures = history.failures.clone();
    for name in disk.unattended() {
        failures.push(format!("{name}: left unattended"));
    }
    for name in &world.conversations {
        let conversation = disk.conversation(name);
        let failed = RefCell::new(failures);
        let check =
            Check { name, conversation: &conversation, history: &history, failures: failed };
        check.journal();
        check.messages();
        check.decisions();
        check.stops();
        check.turn_ends();
        check.effects(world.loses_power);
        check.events(world.loses_power);
        failures = check.failures.into_inner();
    }
    failures
}

struct Check<'a> {
    name: &'a str,
    conversation: &'a Conversation,
    history: &'a History,
    failures: RefCell<Vec<String>>,
}

impl Check<'_> {
    fn fail(&self, failure: String) {
        self.failures.borrow_mut().push(format!("{}: {failure}", self.name));
    }

    fn index_of(&self, id: &str) -> Option<usize> {
        self.conversation.entries.iter().position(|entry| entry.id == id)
    }

    fn journal(&self) {
        let Conversation { entries, inbox, turn, .. } = self.conversation;
        for remark in repair_journal(entries.clone()).1 {
            self.fail(remark);
        }
        if !inbox.is_empty() || *turn != TurnStatus::Over {
            self.fail(format!("{turn:?}, with {} items in the inbox", inbox.len()));
        }
        if !entries.is_empty() && !is_turn_over(entries) {
            self.fail("the last turn has no end".to_owned());
        }
        let history = self.history;
        for subscriber in history.subscribers.iter().filter(|it| it.conversation == self.name) {
            let kept = entries.iter().take(subscriber.seen.len()).map(|entry| &entry.id);
            if !kept.eq(&subscriber.seen) {
                self.fail("a subscriber saw an entry that is not there any more".to_owned());
            }
        }
    }

    fn messages(&self) {
        let history = self.history;
        let sent = history.sent.iter().filter(|it| it.conversation == self.name);
        let messages: Vec<_> = sent.filter(|it| it.id.starts_with('m')).collect();
        // By client and batch, and by position: the indexes in the journal.
        let mut batches: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
        let mut positions: BTreeMap<u64, usize> = BTreeMap::new();
        for message in messages {
            let withdrawn = history.withdrawn.get(&message.id).copied();
            match (message.acknowledged, self.index_of(&message.id)) {
                (Some(_), None) if withdrawn.is_none() => {
                    self.fail(format!("{} was acknowledged and is lost", message.id));
                }
                // An earlier attempt may reach the store after the withdrawal.
                (Some(_), Some(_)) if withdrawn == Some(true) && message.attempts == 1 => {
                    self.fail(format!("{} was withdrawn and is in the journal", message.id));
                }
                (Some(position), Some(index)) if withdrawn.is_none() => {
                    batches.entry((message.client, message.batch)).or_default().push(index);
                    if position > 0 {
                        positions.insert(position, index);
                    }
                }
                _ => {}
            }
        }
        let in_order: Vec<usize> = positions.into_values().collect();
        if !in_order.is_sorted() {
            self.fail(format!("messages in the order of their positions are at {in_order:?}"));
        }
        let mut last = (0, 0);
        for ((client, _), indexes) in batches {
            let (first, end) = (indexes.iter().min(), indexes.iter().max());
            if last.0 == client && first < Some(&last.1) {
                self.fail(format!("client {client} sent messages that are in another order"));
            }
            last = (client, end.copied().unwrap_or_default());
        }
    }

    fn decisions(&self) {
        let history = self.history;
        for sent in history.sent.iter().filter(|it| it.conversation == self.name) {
            if !sent.id.starts_with('d') || sent.acknowledged.is_none() {
                continue;
            }
            match (self.index_of(&sent.id), history.refused.get(&sent.id).map(String::as_str)) {
                (Some(_), _) => {}
                (None, Some("it is decided already" | "it does not wait for a decision")) => {}
                (None, Some(reason)) => self.fail(format!("{} was refused: {reason}", sent.id)),
                (None, None) => self.fail(format!("{} was acknowledged and is lost", sent.id)),
            }
        }
    }

    /// A stop is removed from the inbox only when the turn is over that it was to stop.
    fn stops(&self) {
        let (entries, stops) = (&self.conversation.entries, &self.conversation.stops);
        for stop in stops.iter().filter(|stop| stop.stops_turn) {
            let removed_at = stop.removed_at.unwrap_or_default();
            let since = entries.get(stop.added_at..removed_at).unwrap_or_default();
            if !since.iter().any(|entry| matches!(entry.body, EntryBody::TurnEnded { .. })) {
                self.fail(format!("{} did not end its turn", stop.id));
            }
        }
        let history = self.history;
        for sent in history.sent.iter().filter(|it| it.conversation == self.name) {
            let is_acknowledged = sent.id.starts_with('s') && sent.acknowledged.is_some();
            if is_acknowledged && stops.iter().all(|stop| stop.id != sent.id) {
                self.fail(format!("{} was acknowledged and is lost", sent.id));
            }
        }
    }

    /// A turn begins with a message and ends once. It is cancelled only by a stop, or by a message while it waits for a
    /// decision.
    fn turn_ends(&self) {
        let Conversation { entries, stops, .. } = self.conversation;
        let mut start = 0;
        for (end, entry) in entries.iter().enumerate() {
            let EntryBody::TurnEnded { end: reason } = &entry.body else {
                continue;
            };
            if !entries[start..end].iter().any(Entry::is_message) {
                self.fail(format!("a turn without a message has the end {}", entry.id));
            }
            let mut stops = stops.iter();
            let is_stopped = stops.any(|stop| {
                stop.added_at <= end && stop.removed_at.is_none_or(|removed| removed > start)
            });
            let is_replaced = entries.get(end + 1).is_some_and(Entry::is_message)
                && is_awaiting_decision(&entries[start..end]);
            if *reason == TurnEnd::Cancelled && !is_stopped && !is_replaced {
                self.fail(format!("the turn of {} was cancelled for no reason", entries[start].id));
            }
            start = end + 1;
        }
    }

    fn effects(&self, loses_power: bool) {
        let (history, entries) = (self.history, &self.conversation.entries);
        for entry in entries {
            let EntryBody::CallFinished { result } = &entry.body else {
                continue;
            };
            let call = result.call_id.as_str();
            let effects = history.effects.get(call).copied().unwrap_or_default();
            let started = |body: &EntryBody| matches!(body, EntryBody::CallStarted { call: it } if *it == call);
            if runs_once(call) && effects > 1 {
                self.fail(format!("{call} took effect {effects} times"));
            }
            // A start that a power failure may lose is one of a call that may run again.
            let is_kept = runs_once(call) || !loses_power;
            if effects > 0 && is_kept && !self.conversation.has_entry(started) {
                self.fail(format!("{call} took effect, and its start is not in the journal"));
            }
            match result.outcome {
                Outcome::Ok if effects == 0 => self.fail(format!("{call} had no effect")),
                Outcome::Denied if effects > 0 => self.fail(format!("{call} ran, though denied")),
                _ => {}
            }
        }
    }

    /// Numbers are unique, and rise in the order of the journal.
    fn events(&self, loses_power: bool) {
        let history = self.history;
        let events = history.events.iter().filter(|event| event.conversation == self.name);
        let mut events: Vec<_> = events.collect();
        events.sort_by_key(|event| event.number);
        if let Some(pair) = events.windows(2).find(|pair| pair[0].number == pair[1].number) {
            self.fail(format!("the number {} is used twice", pair[0].number));
        }
        let entries = &self.conversation.entries;
        let about = events.iter().filter_map(|event| {
            let entry = event.entry.as_ref()?;
            entries.iter().position(|stored| entry.is_about(&stored.body))
        });
        let about: Vec<usize> = about.collect();
        // After a power failure, an entry may be written and published again.
        if !loses_power && !about.is_sorted_by(|a, b| a < b) {
            self.fail(format!("events are in another order than their entries: {about:?}"));
        }
    }
}

/// True if a call of a turn waits for a decision until its end.
fn is_awaiting_decision(turn: &[Entry]) -> bool {
    let decided = |id: &str| {
        turn.iter().any(
            |entry| matches!(&entry.body, EntryBody::ApprovalDecided { call, .. } if *call == id),
        )
    };
    turn.iter().any(|entry| matches!(&entry.body, EntryBody::ApprovalRequested { call, .. } if !decided(call.as_str())))
}
