//! Checks that a conversation is consistent with the side effects of its tools.

use std::collections::HashMap;
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;

use toolwright::chat::{Entry, EntryBody, ItemKind, Message, TurnEnd, history};
use toolwright::{Outcome, ToolResult};

/// The totals over all finished conversations.
#[derive(Default)]
pub(crate) struct CheckTotals {
    entries: usize,
    turns: usize,
    calls: usize,
    ran_again: usize,
    unknown: usize,
    unknown_and_done: usize,
    denied: usize,
}

impl AddAssign for CheckTotals {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.turns += other.turns;
        self.calls += other.calls;
        self.ran_again += other.ran_again;
        self.unknown += other.unknown;
        self.unknown_and_done += other.unknown_and_done;
        self.denied += other.denied;
    }
}

impl fmt::Display for CheckTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {} entries, none lost; {} turns, each answered; {} calls, each with one result",
            self.entries, self.turns, self.calls
        )?;
        writeln!(
            f,
            "  {} calls that may run again did; no other ran twice; {} denied; of {} the outcome is unknown, {} of which had \
             done their work",
            self.ran_again, self.denied, self.unknown, self.unknown_and_done
        )
    }
}

/// Checks one conversation.
pub(crate) fn check(entries: &[Entry], log: &Path, orders: usize) -> CheckTotals {
    no_call_without_its_result(entries);
    let world = SideEffectLog::read(log);
    let turns: Vec<&[Entry]> = entries
        .split_inclusive(|entry| matches!(entry.body, EntryBody::TurnEnded { .. }))
        .collect();
    assert_eq!(turns.len(), orders, "{entries:#?}");
    let mut findings =
        CheckTotals { entries: entries.len(), turns: orders, ..CheckTotals::default() };
    for (order, turn) in (1..).zip(turns) {
        let answer = answer(turn);
        for tool in ["look", "put", "charge", "refund"] {
            let result = the_result(turn, &format!("{order}-{tool}"));
            let may_run_again = matches!(tool, "look" | "put");
            let done = world.done(tool, order);
            let found = format!("{tool} {order} is {}, done {done} times", result.outcome);
            findings.calls += 1;
            match result.outcome {
                Outcome::Ok if may_run_again => {
                    assert!(done >= 1, "{found}");
                    findings.ran_again += usize::from(done > 1);
                }
                Outcome::Ok => assert_eq!(done, 1, "{found}"),
                Outcome::OutcomeUnknown => {
                    assert!(!may_run_again && done <= 1, "{found}");
                    findings.unknown += 1;
                    findings.unknown_and_done += done;
                }
                Outcome::Denied => {
                    assert!(tool == "refund" && done == 0, "{found}");
                    findings.denied += 1;
                }
                _ => panic!("{found}"),
            }
            let outcome = format!("{tool} was {}", result.outcome);
            assert!(answer.contains(&outcome), "`{outcome}` is not in {answer:?}");
        }
        world.refunded_what_was_asked(turn, order);
    }
    findings
}

/// Asserts that the history for the model has one result for each call, after it, and no others.
fn no_call_without_its_result(entries: &[Entry]) {
    let mut open: Vec<String> = Vec::new();
    for message in history(entries) {
        match message {
            Message::Results(results) => {
                let results = results.iter().map(|it| it.call_id.to_string());
                assert_eq!(results.collect::<Vec<_>>(), std::mem::take(&mut open));
            }
            other => {
                assert!(open.is_empty(), "{open:?} without a result");
                if let Message::Step(step) = other {
                    let calls = step.items.iter().filter_map(|item| match &item.kind {
                        ItemKind::Call { call } => Some(call.id.to_string()),
                        _ => None,
                    });
                    open = calls.collect();
                }
            }
        }
    }
    assert!(open.is_empty(), "{open:?} without a result");
}

/// The one result of a call.
fn the_result<'a>(turn: &'a [Entry], call: &str) -> &'a ToolResult {
    let results = turn.iter().filter_map(|entry| match &entry.body {
        EntryBody::CallFinished { result } if result.call_id == *call => Some(result),
        _ => None,
    });
    let results: Vec<&ToolResult> = results.collect();
    assert_eq!(results.len(), 1, "{call}: {turn:#?}");
    results[0]
}

/// The text of the final answer.
fn answer(turn: &[Entry]) -> String {
    let [.., step, end] = turn else {
        panic!("{turn:#?}");
    };
    let end = matches!(&end.body, EntryBody::TurnEnded { end } if *end == TurnEnd::Answered);
    assert!(end, "{turn:#?}");
    match &step.body {
        EntryBody::Step { step, .. } => step.text(),
        _ => panic!("{turn:#?}"),
    }
}

/// The number of side effects, and their amounts.
struct SideEffectLog(HashMap<(String, usize), Vec<u64>>);

impl SideEffectLog {
    fn read(log: &Path) -> Self {
        let mut done: HashMap<_, Vec<u64>> = HashMap::new();
        for line in std::fs::read_to_string(log).unwrap().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [tool, order, euros] = words[..] else {
                panic!("{line}");
            };
            let key = (tool.to_owned(), order.parse().unwrap());
            done.entry(key).or_default().push(euros.parse().unwrap());
        }
        Self(done)
    }

    fn done(&self, tool: &str, order: usize) -> usize {
        self.0.get(&(tool.to_owned(), order)).map_or(0, Vec::len)
    }

    /// Asserts that the calls ran with the approved arguments, whichever process requested the approval and ran them.
    fn refunded_what_was_asked(&self, turn: &[Entry], order: usize) {
        let asked = turn.iter().find_map(|entry| match &entry.body {
            EntryBody::ApprovalRequested { arguments, .. } => arguments["euros"].as_u64(),
            _ => None,
        });
        for euros in self.0.get(&("refund".to_owned(), order)).into_iter().flatten() {
            assert_eq!(Some(*euros), asked);
        }
    }
}
