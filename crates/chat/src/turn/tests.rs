//! The actions that a turn decides, from journals.

use std::sync::Arc;
use std::time::Duration;

use toolwright_core::{Content, ToolCall, ToolResult};

use super::*;
use crate::model::ModelId;
use crate::model::item::{Item, Step};

/// A journal that is written step by step.
#[derive(Default)]
struct Journal {
    entries: Vec<Entry>,
}

impl Journal {
    fn with_user_message() -> Self {
        let mut journal = Self::default();
        let content = vec![Content::text("And now?")];
        journal.add(EntryBody::User { content });
        journal
    }

    fn add(&mut self, body: EntryBody) -> &mut Self {
        let at = 1_000 * self.entries.len() as u64;
        self.entries.push(Entry::new(self.entries.len().to_string(), at, body));
        self
    }

    fn step(&mut self, calls: &[CallMetadata]) -> &mut Self {
        let items = calls
            .iter()
            .map(|call| Item::call(ToolCall::new(&call.tool, "{}").with_id(call.call.as_str())));
        let stop = if calls.is_empty() { StopReason::End } else { StopReason::Calls };
        let step = Step::new(ModelId::new("test", ""), items.collect(), stop, Usage::new(10, 5));
        self.add(EntryBody::Step { step: Arc::new(step), calls: calls.to_vec(), cost: Some(0.25) })
    }

    fn finished(&mut self, call: &str) -> &mut Self {
        self.result(call, ToolResult::success("done"))
    }

    fn result(&mut self, call: &str, mut result: ToolResult) -> &mut Self {
        result.call_id = call.into();
        self.add(EntryBody::CallFinished { result })
    }

    fn next_within(&self, limits: TurnLimits) -> TurnAction {
        let mut turn = Turn::new(limits);
        self.entries.iter().for_each(|entry| turn.apply(entry));
        turn.next_action(1_000 * self.entries.len() as u64)
    }

    fn next(&self) -> TurnAction {
        self.next_within(TurnLimits::default())
    }
}

fn call(id: &str) -> CallMetadata {
    CallMetadata::new(id, "tool", id)
}

fn read_only_call(id: &str) -> CallMetadata {
    CallMetadata { read_only: true, ..call(id) }
}

fn approval_requested(call: &str, expires: u64) -> EntryBody {
    let token = serde_json::json!({"id": "1", "digest": "", "expires": expires, "signature": ""});
    EntryBody::ApprovalRequested {
        call: call.into(),
        arguments: serde_json::json!({}),
        token: serde_json::from_value(token).unwrap(),
    }
}

fn ids(ids: &[&str]) -> Vec<CallId> {
    ids.iter().map(|id| CallId::from(*id)).collect()
}

#[test]
fn a_question_is_asked_and_an_answer_ends_the_turn() {
    let mut journal = Journal::with_user_message();
    assert_eq!(journal.next(), TurnAction::CallModel);
    assert_eq!(journal.step(&[]).next(), TurnAction::EndTurn(TurnEnd::Answered));
}

#[test]
fn calls_run_and_their_results_are_asked_about() {
    let mut journal = Journal::with_user_message();
    journal.step(&[call("a"), call("b")]);
    assert_eq!(journal.next(), TurnAction::RunCalls(ids(&["a", "b"])));
    assert_eq!(journal.finished("a").next(), TurnAction::RunCalls(ids(&["b"])));
    assert_eq!(journal.finished("b").next(), TurnAction::CallModel);
}

#[test]
fn before_a_decision_only_readers_run() {
    let mut journal = Journal::with_user_message();
    journal
        .step(&[call("pay"), read_only_call("look"), call("write")])
        .add(approval_requested("pay", u64::MAX));
    assert_eq!(journal.next(), TurnAction::RunCalls(ids(&["look"])));
    assert_eq!(journal.finished("look").next(), TurnAction::AwaitApproval(ids(&["pay"])));
    journal.add(EntryBody::ApprovalDecided {
        call: "pay".into(),
        verdict: ApprovalVerdict::Approve,
        mac: None,
    });
    assert_eq!(journal.next(), TurnAction::RunCalls(ids(&["pay", "write"])));
}

#[test]
fn what_had_started_is_run_again_only_if_that_changes_nothing() {
    let mut journal = Journal::with_user_message();
    journal
        .step(&[call("a"), read_only_call("b")])
        .add(EntryBody::CallStarted { call: "a".into() })
        .add(EntryBody::CallStarted { call: "b".into() });
    assert_eq!(journal.next(), TurnAction::AbandonCalls(ids(&["a"])));
    assert_eq!(journal.finished("a").next(), TurnAction::RunCalls(ids(&["b"])));
}

#[test]
fn an_approval_that_expires_is_a_denial() {
    let mut journal = Journal::with_user_message();
    journal.step(&[call("pay")]).add(approval_requested("pay", 2_500));
    let TurnAction::RejectCalls(rejected) = journal.next() else { panic!("it is too late") };
    assert_eq!(
        rejected,
        [("pay".into(), "the call was denied: nobody decided in time".to_owned())]
    );
}

#[test]
fn a_fatal_result_ends_the_turn() {
    let mut journal = Journal::with_user_message();
    let mut fatal = ToolResult::failure("the store is gone");
    fatal.error = Some(ErrorKind::Fatal);
    journal.step(&[call("a")]).result("a", fatal);
    let reason = "the store is gone".to_owned();
    assert_eq!(journal.next(), TurnAction::EndTurn(TurnEnd::Failed { reason }));
}

#[test]
fn a_result_may_be_the_answer() {
    let mut journal = Journal::with_user_message();
    let direct = CallMetadata { return_direct: true, ..call("a") };
    assert_eq!(journal.step(&[direct]).finished("a").next(), TurnAction::EndTurn(TurnEnd::Direct));
}

#[test]
fn the_same_call_again_and_again_is_refused_and_then_ends_the_turn() {
    let mut journal = Journal::with_user_message();
    let mut refused = 0;
    for round in 0.. {
        let same = CallMetadata::new(format!("c{round}"), "tool", "same");
        journal.step(&[same]);
        match journal.next() {
            TurnAction::RunCalls(_) => {}
            TurnAction::EndTurn(TurnEnd::Limit { reason }) => {
                assert_eq!(reason, "the same call was asked for 7 times");
                break;
            }
            TurnAction::RejectCalls(calls) => {
                assert!(calls.iter().all(|(_, reason)| reason.contains("3 times already")));
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
        journal.finished(&format!("c{round}"));
    }
    assert_eq!(refused, 3);
}

#[test]
fn calls_beyond_the_limit_are_refused() {
    let mut journal = Journal::with_user_message();
    let calls: Vec<CallMetadata> = (0..200)
        .map(|n| CallMetadata::new(format!("c{n}"), format!("t{}", n % 100), n.to_string()))
        .collect();
    journal.step(&calls);
    let TurnAction::RejectCalls(rejected) = journal.next() else { panic!("some are refused") };
    assert_eq!(rejected.len(), 50);
}

#[test]
fn of_a_thousand_calls_in_one_step_none_runs() {
    let mut journal = Journal::with_user_message();
    let calls: Vec<CallMetadata> = (0..1_000)
        .map(|n| CallMetadata::new(format!("c{n}"), format!("t{}", n % 100), n.to_string()))
        .collect();
    journal.step(&calls);
    let reason = "it asked for 1000 calls where 150 are allowed".to_owned();
    assert_eq!(journal.next(), TurnAction::EndTurn(TurnEnd::Limit { reason }));
}

#[test]
fn every_other_limit_ends_the_turn_and_says_which() {
    let mut journal = Journal::with_user_message();
    journal.step(&[call("a")]).add(EntryBody::CallStarted { call: "a".into() }).finished("a");
    let reason = |limits: TurnLimits| match journal.next_within(limits) {
        TurnAction::EndTurn(TurnEnd::Limit { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let limits = TurnLimits::default;
    assert_eq!(reason(TurnLimits { steps: 1, ..limits() }), "the model was asked 1 times");
    assert_eq!(reason(TurnLimits { tokens: Some(15), ..limits() }), "it took 15 tokens");
    assert_eq!(
        reason(TurnLimits { time: Duration::from_secs(2), ..limits() }),
        "it took 4 seconds"
    );
    assert_eq!(reason(TurnLimits { cost: Some(0.25), ..limits() }), "it cost 0.2500");
}

#[test]
fn a_new_question_begins_a_new_turn() {
    let mut journal = Journal::with_user_message();
    journal.step(&[]).add(EntryBody::TurnEnded { end: TurnEnd::Answered });
    assert_eq!(journal.next(), TurnAction::EndTurn(TurnEnd::Answered));
    journal.add(EntryBody::User { content: Vec::new() });
    assert_eq!(journal.next(), TurnAction::CallModel);
}

#[test]
fn the_time_of_waiting_does_not_count() {
    let limits = TurnLimits { time: Duration::from_secs(60), ..TurnLimits::default() };
    let mut turn = Turn::new(limits.clone());
    let mut journal = Journal::with_user_message();
    journal.step(&[call("pay"), call("by_hand")]);
    journal.add(approval_requested("pay", u64::MAX));
    let hour = 3_600_000;
    journal.add(EntryBody::ApprovalDecided {
        call: "pay".into(),
        verdict: ApprovalVerdict::Approve,
        mac: None,
    });
    journal.finished("pay").finished("by_hand");
    for (at, entry) in journal.entries.iter_mut().enumerate() {
        entry.at = [0, 0, 0, hour, 2 * hour, 3 * hour][at];
        turn.apply(entry);
    }
    assert_eq!(turn.deadline(), 3 * hour + 60_000);
    turn.resume(limits, 9 * hour);
    assert_eq!(turn.next_action(9 * hour), TurnAction::CallModel);
}

#[test]
fn a_gap_that_no_work_can_fill_does_not_count() {
    let limits = TurnLimits { time: Duration::from_secs(60), ..TurnLimits::default() };
    let mut journal = Journal::with_user_message();
    journal.step(&[call("look")]).add(EntryBody::CallStarted { call: "look".into() });
    journal.finished("look");
    let hour = 3_600_000;
    // The process was killed after the message and after the step; the clock was an hour behind in between.
    for (entry, at) in journal.entries.iter_mut().zip([2 * hour, hour, 9 * hour, 9 * hour + 1]) {
        entry.at = at;
    }
    let mut turn = Turn::new(limits.clone());
    journal.entries.iter().for_each(|entry| turn.replay(entry));
    turn.resume(limits, 12 * hour);
    // One millisecond of work before.
    assert_eq!(turn.deadline(), 12 * hour + 60_000 - 1);
    assert_eq!(turn.next_action(12 * hour), TurnAction::CallModel);
    let reason = "it took 60 seconds".to_owned();
    let end = TurnAction::EndTurn(TurnEnd::Limit { reason });
    assert_eq!(turn.next_action(turn.deadline()), end);
}

#[test]
fn no_entry_after_a_result_changes_it() {
    let mut journal = Journal::with_user_message();
    journal.step(&[call("pay")]).add(approval_requested("pay", u64::MAX));
    journal.add(EntryBody::ApprovalDecided {
        call: "pay".into(),
        verdict: ApprovalVerdict::Approve,
        mac: None,
    });
    journal.add(EntryBody::CallStarted { call: "pay".into() });
    journal.finished("pay");
    for late in [
        approval_requested("pay", u64::MAX),
        EntryBody::CallStarted { call: "pay".into() },
        EntryBody::ApprovalDecided {
            call: "pay".into(),
            verdict: ApprovalVerdict::Approve,
            mac: None,
        },
    ] {
        assert_eq!(journal.add(late).next(), TurnAction::CallModel);
    }
}

/// A call that starts, and makes another call that may not run again.
fn with_child(parent: CallMetadata) -> Journal {
    let mut journal = Journal::with_user_message();
    let id = parent.call.clone();
    journal.step(&[parent]).add(EntryBody::CallStarted { call: id.clone() });
    let child = ToolCall::new("tool", "{}").with_id(format!("{id}.1"));
    let metadata = call(child.id.as_str());
    journal.add(EntryBody::ChildCall { call: child, metadata });
    journal.entries.last_mut().unwrap().parent = Some(id);
    journal
}

#[test]
fn an_interrupted_call_with_a_child_runs_again_if_it_is_replayable() {
    let mut parent = call("a");
    parent.replayable = true;
    let mut journal = with_child(parent.clone());
    assert_eq!(journal.next(), TurnAction::RunCalls(vec!["a".into()]));
    // What the child has done is not known, but its parent reads that.
    journal.add(EntryBody::CallStarted { call: "a.1".into() });
    assert_eq!(journal.next(), TurnAction::AbandonCalls(vec!["a.1".into()]));
    journal.finished("a.1");
    assert_eq!(journal.next(), TurnAction::RunCalls(vec!["a".into()]));
    journal.finished("a");
    assert_eq!(journal.next(), TurnAction::CallModel);
}

#[test]
fn a_child_of_a_call_that_does_not_run_again_gets_a_result_first() {
    let mut journal = with_child(call("a"));
    let rejected = vec![("a.1".into(), PARENT_ENDED.to_owned())];
    assert_eq!(journal.next(), TurnAction::RejectCalls(rejected));
    journal.add(EntryBody::CallStarted { call: "a.1".into() });
    assert_eq!(journal.next(), TurnAction::AbandonCalls(vec!["a.1".into(), "a".into()]));
}

/// A call that has started, and waits for the approval of a child that it makes before its effect.
fn with_child_before_effect() -> Journal {
    let mut journal = with_child(call("a"));
    if let EntryBody::ChildCall { metadata, .. } = &mut journal.entries.last_mut().unwrap().body {
        metadata.before_effect = true;
    }
    journal
}

#[test]
fn an_interrupted_call_that_has_had_no_effect_runs_again_until_it_has_started_again() {
    let mut journal = with_child_before_effect();
    assert_eq!(journal.next(), TurnAction::RunCalls(vec!["a".into()]));
    journal.add(EntryBody::CallStarted { call: "a".into() });
    let rejected = vec![("a.1".into(), PARENT_ENDED.to_owned())];
    assert_eq!(journal.next(), TurnAction::RejectCalls(rejected));
    journal.finished("a.1");
    assert_eq!(journal.next(), TurnAction::AbandonCalls(vec!["a".into()]));
}

#[test]
fn a_call_whose_child_has_finished_may_have_had_an_effect() {
    let mut journal = with_child_before_effect();
    journal.add(EntryBody::CallStarted { call: "a.1".into() }).finished("a.1");
    assert_eq!(journal.next(), TurnAction::AbandonCalls(vec!["a".into()]));
}

#[test]
fn a_child_without_an_open_parent_is_ignored() {
    let mut journal = with_child(call("a"));
    journal.entries.last_mut().unwrap().parent = Some("b".into());
    journal.finished("a");
    assert_eq!(journal.next(), TurnAction::CallModel);
}
