//! Compares the responses and events that clients received with the journals and the effects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;

use serde_json::Value;

use super::client::{Acknowledgement, Client};
use super::journal::{Journal, Turn};

/// The totals over all conversations.
#[derive(Default)]
pub struct CheckTotals {
    accepted: usize,
    refused: usize,
    unknown: usize,
    unknown_kept: usize,
    decisions: usize,
    stops: usize,
    stopped_another: usize,
    abandoned: usize,
    effects: usize,
    unknown_outcomes: usize,
    events: usize,
    snapshots: usize,
    results: usize,
}

impl AddAssign for CheckTotals {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.unknown += other.unknown;
        self.unknown_kept += other.unknown_kept;
        self.decisions += other.decisions;
        self.stops += other.stops;
        self.stopped_another += other.stopped_another;
        self.abandoned += other.abandoned;
        self.effects += other.effects;
        self.unknown_outcomes += other.unknown_outcomes;
        self.events += other.events;
        self.snapshots += other.snapshots;
        self.results += other.results;
    }
}

impl fmt::Display for CheckTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {} messages accepted, each kept once and answered in order; {} refused; {} without a response, {} of which were \
             kept",
            self.accepted, self.refused, self.unknown, self.unknown_kept
        )?;
        writeln!(
            f,
            "  {} decisions, each recorded once; {} stops, each ended its turn, {} other turns ended by a stop; {} turns ended by \
             a message in place of a decision",
            self.decisions, self.stops, self.stopped_another, self.abandoned
        )?;
        writeln!(
            f,
            "  {} effects, none twice; of {} calls the outcome is unknown",
            self.effects, self.unknown_outcomes
        )?;
        // Where the clients subscribe.
        match self.events {
            0 => Ok(()),
            events => writeln!(
                f,
                "  {events} events with rising numbers, {} snapshots, {} results, all in the journal",
                self.snapshots, self.results
            ),
        }
    }
}

/// The effects of calls that may not run twice, by their line, with their number.
pub fn read_effects(file: &Path) -> BTreeMap<String, usize> {
    let mut effects = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
        *effects.entry(line.to_owned()).or_default() += 1;
    }
    effects
}

/// Checks a conversation that has settled.
pub fn check(client: &Client, journal: &Journal, effects: &BTreeMap<String, usize>) -> CheckTotals {
    let mut totals = CheckTotals::default();
    if client.is_balanced() {
        check_balanced_messages(client, journal, &mut totals);
    } else {
        check_messages(client, journal, &mut totals);
    }
    for (n, turn) in journal.turns.iter().enumerate() {
        check_turn(client, turn, journal.turns.get(n + 1), &mut totals);
        check_effect(turn, effects, &mut totals);
    }
    for (call, verdict) in &client.decisions {
        let turn = journal.turn_of(&call.replace('-', " ")).expect("its message was accepted");
        let decided: Vec<&Value> = turn.entries_of("decided").collect();
        assert_eq!(decided.len(), 1, "{call}: {:#?}", turn.entries);
        assert_eq!(decided[0]["verdict"]["verdict"], *verdict, "{call}");
        totals.decisions += 1;
    }
    for message in &client.stops {
        let end = journal.turn_of(message).and_then(Turn::end);
        assert_eq!(end, Some("cancelled"), "{message}");
        totals.stops += 1;
    }
    assert!(totals.stops + totals.stopped_another <= client.stops_sent, "{}", client.name);
    totals
}

/// Asserts that accepted messages are in the journal once and in order, and refused ones are not.
fn check_messages(client: &Client, journal: &Journal, totals: &mut CheckTotals) {
    let mut kept = journal.turns.iter().map(|turn| &turn.message).peekable();
    for (message, acknowledged) in &client.messages {
        let is_kept = kept.next_if_eq(&message).is_some();
        match acknowledged {
            Acknowledgement::Accepted => {
                assert!(is_kept, "`{message}` is lost, or not in order: {:?}", kept.peek());
                totals.accepted += 1;
            }
            Acknowledgement::Refused => {
                assert!(!is_kept, "`{message}` was refused, and is kept");
                totals.refused += 1;
            }
            Acknowledgement::Unknown => {
                totals.unknown += 1;
                totals.unknown_kept += usize::from(is_kept);
            }
        }
    }
    assert_eq!(kept.next(), None, "{}: twice, or not in order", client.name);
}

/// Asserts the same, where a message without a response may come later, or not at all.
fn check_balanced_messages(client: &Client, journal: &Journal, totals: &mut CheckTotals) {
    let mut kept = BTreeMap::new();
    for (position, turn) in journal.turns.iter().enumerate() {
        let message = turn.message.as_str();
        assert_eq!(kept.insert(message, position), None, "`{message}` is kept twice");
        assert!(client.acknowledgement(message).is_some(), "`{message}` was not sent");
    }
    let mut last = None;
    for (message, acknowledged) in &client.messages {
        let position = kept.get(message.as_str()).copied();
        match acknowledged {
            Acknowledgement::Accepted => {
                assert!(position.is_some(), "`{message}` is lost");
                assert!(last < position, "`{message}` is not in order");
                last = position;
                totals.accepted += 1;
            }
            Acknowledgement::Refused => {
                assert_eq!(position, None, "`{message}` was refused, and is kept");
                totals.refused += 1;
            }
            Acknowledgement::Unknown => {
                totals.unknown += 1;
                totals.unknown_kept += usize::from(position.is_some());
            }
        }
    }
}

/// Asserts that a turn has one result for each call, and has the end that it should.
fn check_turn(client: &Client, turn: &Turn, next: Option<&Turn>, totals: &mut CheckTotals) {
    let message = &turn.message;
    let count = |kind| turn.entries_of(kind).count();
    assert_eq!(count("ended"), 1, "{message}: {:#?}", turn.entries);
    assert_eq!(count("user"), 1, "{message}");
    assert!(count("finished") <= 1 && count("decided") <= 1, "{message}: {:#?}", turn.entries);
    let is_accepted =
        |turn: &Turn| client.acknowledgement(&turn.message) == Some(Acknowledgement::Accepted);
    match turn.end() {
        Some("answered") => {
            let answered = turn.answer().starts_with(&format!("{message} is answered"));
            assert!(answered && turn.tool() != "hang", "{message}: {:#?}", turn.entries);
        }
        Some("cancelled") if turn.tool() == "hang" => {}
        Some("cancelled") if client.abandoned.contains(message) => totals.abandoned += 1,
        // Voided by the next message, which was sent without a response to this one, or came late.
        Some("cancelled") if turn.tool() == "refund" && !is_accepted(turn) => {}
        Some("cancelled")
            if turn.tool() == "refund"
                && client.is_balanced()
                && next.is_some_and(|next| !is_accepted(next)) => {}
        // A stop does not name its turn: the next one may have begun.
        Some("cancelled") => totals.stopped_another += 1,
        other => panic!("{message} ended by {other:?}: {:#?}", turn.entries),
    }
}

/// Asserts that the effects of a turn are those that its journal shows.
fn check_effect(turn: &Turn, effects: &BTreeMap<String, usize>, totals: &mut CheckTotals) {
    if !matches!(turn.tool(), "charge" | "refund") {
        return;
    }
    let done = effects.get(&turn.message).copied().unwrap_or_default();
    let finished = turn.entries_of("finished").next();
    let outcome = finished.map(|finished| finished["result"]["outcome"].as_str().unwrap());
    let found = format!("{} is {outcome:?}, done {done} times", turn.message);
    match outcome {
        Some("ok") => assert_eq!(done, 1, "{found}"),
        Some("outcome_unknown") => {
            assert!(done <= 1, "{found}");
            totals.unknown_outcomes += 1;
        }
        Some("denied" | "cancelled") | None => assert_eq!(done, 0, "{found}"),
        Some(_) => panic!("{found}: {:#?}", turn.entries),
    }
    totals.effects += done;
}

/// Asserts that the numbers of events rise, that all that they show is in the journal, and that a result is delivered once.
pub fn check_events(events: &[Value], journal: &Journal) -> CheckTotals {
    let mut totals = CheckTotals::default();
    let mut newest = 0;
    // Since the last snapshot: the calls whose results were delivered, and the message whose turn runs.
    let mut delivered = BTreeSet::new();
    let mut current = None;
    let messages: BTreeSet<&str> = journal.turns.iter().map(|it| it.message.as_str()).collect();
    for numbered in events {
        let event = &numbered["event"];
        let is_snapshot = event["type"] == "snapshot";
        if let Some(seq) = numbered["seq"].as_u64() {
            let rises = seq > newest || is_snapshot && seq == newest;
            assert!(rises, "{seq} after {newest}: {numbered}");
            newest = seq;
            totals.events += 1;
        }
        let turn_of_call = |call: &Value| {
            let message = call.as_str().unwrap().replace('-', " ");
            journal.turn_of(&message).unwrap_or_else(|| panic!("{message}: {numbered}"))
        };
        match event["type"].as_str().unwrap() {
            "snapshot" => {
                for entry in event["entries"].as_array().unwrap() {
                    assert!(journal.entries.contains(entry), "{entry} is not in the journal");
                }
                delivered.clear();
                current = None;
                totals.snapshots += 1;
            }
            "said" => {
                let text = event["content"][0]["text"].as_str().unwrap();
                assert!(messages.contains(text), "{text} is not in the journal");
                current = Some(text);
            }
            "result" => {
                let turn = turn_of_call(&event["result"]["callId"]);
                let mut finished = turn.entries_of("finished");
                let is_kept = finished.any(|finished| finished["result"] == event["result"]);
                assert!(is_kept, "{numbered} is not in {:#?}", turn.entries);
                let call = event["result"]["callId"].as_str().unwrap();
                assert!(delivered.insert(call), "the result of {call} is delivered twice");
                totals.results += 1;
            }
            "decided" => {
                let turn = turn_of_call(&event["call"]);
                let mut decided = turn.entries_of("decided");
                let is_kept = decided.any(|it| it["verdict"]["verdict"] == event["verdict"]);
                assert!(is_kept, "{numbered} is not in {:#?}", turn.entries);
            }
            "ended" if event["end"] == "answered" => {
                let text = event["content"][0]["text"].as_str().unwrap();
                let mut turns = journal.turns.iter();
                let is_kept = turns.any(|it| it.answer() == text && it.end() == Some("answered"));
                assert!(is_kept, "{numbered} is not in the journal");
                // All of the turn was delivered as events.
                let turn = current.take().and_then(|message| journal.turn_of(message));
                for finished in turn.iter().flat_map(|turn| turn.entries_of("finished")) {
                    let call = finished["result"]["callId"].as_str().unwrap();
                    assert!(delivered.contains(call), "the result of {call} is not delivered");
                }
            }
            _ => {}
        }
    }
    totals
}
