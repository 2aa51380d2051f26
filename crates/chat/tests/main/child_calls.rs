//! Calls that a tool makes inside its own call: recorded, limited, approved, and replayed when that call runs again.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{join_all, pending};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::yield_now;
use toolwright::chat::{
    Chat, ChatEvent, Entry, EntryBody, MemoryStore, Message, Response, Store as _, TurnEnd,
    TurnLimits, TurnRequest, history, import_journal, repair_journal,
};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{
    ApprovalDecision, ApprovalRequest, Approver, BoxFuture, Invoker, Outcome, Tool, ToolBuilder,
    ToolCall, ToolCaller, ToolError,
};

use crate::support::{
    Log, YieldingStore, assert_complete, builder, ended, events, failing_tool, kinds, logging_tool,
    pay, read_tool, registry, stored_entries, write,
};

const ROOM: &str = "room";

/// Ends a tool that makes the calls of its argument, `[["write", {"n": 1}], …]`, and returns the texts of their results.
fn program(tool: ToolBuilder) -> Tool {
    tool.param::<Vec<(String, Value)>>("calls", "The calls.")
        .run_async(|args, cx| async move {
            let mut texts = Vec::new();
            for (tool, arguments) in args.get::<Vec<(String, Value)>>("calls")? {
                let result = cx.tools().call(tool, arguments).await;
                texts.push(result.text().into_owned());
            }
            Ok::<_, ToolError>(texts.join(", "))
        })
        .unwrap()
}

fn replayable() -> Tool {
    program(Tool::builder("run", "Runs a program.").replayable(true))
}

/// The same, and what it was doing when it is interrupted is not known.
fn plain() -> Tool {
    program(Tool::builder("plain", "Runs a program."))
}

/// Makes the calls before an effect of its own, which it has only if they succeed.
fn guarded(log: &Log) -> Tool {
    let log = log.clone();
    let tool = Tool::builder("guarded", "Asks first.");
    tool.param::<Vec<(String, Value)>>("calls", "The calls.")
        .run_async(move |args, cx| {
            let log = log.clone();
            async move {
                for (tool, arguments) in args.get::<Vec<(String, Value)>>("calls")? {
                    let result = cx.tools().call_before_effect(tool, arguments).await;
                    if result.is_error() {
                        return Ok::<_, ToolError>(format!("not done: {}", result.text()));
                    }
                }
                yield_now().await;
                log.write("guarded");
                yield_now().await;
                Ok("done".to_owned())
            }
        })
        .unwrap()
}

fn tools(log: &Log) -> Vec<Tool> {
    let again = logging_tool(Tool::builder("again", "Sets a value.").idempotent(true), log);
    vec![replayable(), plain(), guarded(log), read_tool(log), write(log), pay(log), again]
}

fn calls(calls: Value) -> String {
    json!({ "calls": calls }).to_string()
}

/// A chat whose model makes one call, and answers with its result.
fn one_call(store: &Arc<MemoryStore>, tools: Vec<Tool>, tool: &str, program: Value) -> Chat {
    builder(asks_once(tool, program), tools).store(Arc::clone(store)).build()
}

fn asks_once(tool: &str, program: Value) -> FnModel {
    let call = ToolCall::new(tool, calls(program)).with_id("p");
    FnModel::new(move |request| match request.messages.last() {
        Some(Message::Results(results)) => ModelReply::text(results[0].text()),
        _ => ModelReply::call(call.clone()),
    })
}

fn ask(chat: &Chat) -> TurnRequest {
    chat.message().conversation(ROOM).user("Go!")
}

/// The kind, the call and the parent of each entry that is about a call.
fn of_calls(entries: &[Entry]) -> Vec<String> {
    let lines = entries.iter().filter_map(|entry| {
        let what = serde_json::to_value(&entry.body).unwrap();
        let (kind, body) = what.as_object().unwrap().iter().next().unwrap();
        let call = [&body["call"], &body["call"]["id"], &body["result"]["callId"]];
        let call = call.into_iter().find_map(Value::as_str)?;
        let parent = entry.parent.as_ref().map(|parent| format!(" in {parent}"));
        Some(format!("{kind} {call}{}", parent.unwrap_or_default()))
    });
    lines.collect()
}

/// The outcome of a call.
fn outcome(entries: &[Entry], call: &str) -> Outcome {
    let mut results = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::CallFinished { result } if result.call_id == call => Some(result.outcome),
        _ => None,
    });
    let outcome = results.next().unwrap_or_else(|| panic!("no result of {call}"));
    assert_eq!(results.next(), None, "two results of {call}");
    outcome
}

/// Asserts that each call has one result, and that none came after the result of the call that made it.
fn assert_nested(entries: &[Entry]) {
    assert_complete(entries);
    let mut open: Vec<&str> = Vec::new();
    for entry in entries {
        match &entry.body {
            EntryBody::Step { calls, .. } => {
                assert_eq!(open, Vec::<&str>::new());
                open = calls.iter().map(|call| call.call.as_str()).collect();
            }
            EntryBody::ChildCall { call, .. } => {
                assert!(open.contains(&entry.parent.as_ref().unwrap().as_str()));
                open.push(call.id.as_str());
            }
            EntryBody::CallFinished { result } => {
                let id = result.call_id.as_str();
                let inside = format!("{id}.");
                assert!(!open.iter().any(|open| open.starts_with(&inside)), "{open:?} after {id}");
                let at = open.iter().position(|open| *open == id);
                open.remove(at.unwrap_or_else(|| panic!("a second result of {id}")));
            }
            EntryBody::TurnEnded { .. } => assert_eq!(open, Vec::<&str>::new()),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_call_inside_a_call_is_recorded_with_its_parent() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let program = json!([["look", {"n": 1}], ["plain", {"calls": [["write", {"n": 2}]]}]]);
    let chat = one_call(&store, tools(&log), "run", program);
    let response = ask(&chat).call().await.unwrap();
    assert_eq!(response.text(), "look 1, write 2");
    assert_eq!(response.results().len(), 1);
    let entries = stored_entries(&store, ROOM).await;
    assert_eq!(
        of_calls(&entries),
        [
            "started p",
            "called p.1 in p",
            "started p.1 in p",
            "finished p.1 in p",
            "called p.2 in p",
            "started p.2 in p",
            "called p.2.1 in p.2",
            "started p.2.1 in p.2",
            "finished p.2.1 in p.2",
            "finished p.2 in p",
            "finished p",
        ]
    );
    assert_nested(&entries);
    let results = history(&entries).into_iter().filter_map(|message| match message {
        Message::Results(results) => Some(results.len()),
        _ => None,
    });
    assert_eq!(results.collect::<Vec<_>>(), [1], "the model reads only the result of its own call");
}

#[tokio::test]
async fn events_show_the_tree_of_calls() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let chat = one_call(&store, tools(&log), "run", json!([["look", {"n": 1}], ["pay", {"n": 2}]]));
    let (emitted, error) = events(ask(&chat).stream()).await;
    assert!(error.is_none());
    let shown = ["call", "called", "running", "result", "asked", "paused"];
    let mut kinds = kinds(&emitted);
    kinds.retain(|kind| shown.contains(&kind.as_str()));
    assert_eq!(
        kinds,
        ["call", "running", "called", "running", "result", "called", "asked", "paused"]
    );
    let json = |event: &ChatEvent| serde_json::to_value(event).unwrap();
    let called = emitted.iter().map(json).find(|event| event["type"] == "called").unwrap();
    assert_eq!(called["parent"], "p");
    assert_eq!(called["call"]["id"], "p.1");
    let asked = emitted.iter().map(json).find(|event| event["type"] == "asked").unwrap();
    assert_eq!((&asked["parent"], &asked["call"]["id"]), (&json!("p"), &json!("p.2")));
}

#[tokio::test]
async fn child_calls_count_toward_the_limits_of_the_turn() {
    let writes = |numbers: &[usize]| -> Value {
        numbers.iter().map(|n| json!(["write", { "n": n }])).collect()
    };
    let mut few = TurnLimits::default();
    few.calls = 3;
    let mut few_per_tool = TurnLimits::default();
    few_per_tool.calls_per_tool = 2;
    for (limits, program, expected) in [
        (few, writes(&[1, 2, 3]), "write 1, write 2, this turn has made its 3 calls"),
        (
            few_per_tool,
            writes(&[1, 2, 3]),
            "write 1, write 2, this turn has called `write` 2 times already",
        ),
        (
            TurnLimits::default(),
            writes(&[1, 1, 1, 1]),
            "write 1, write 1, write 1, the same call was made 3 times already, and its result will not change; do something else",
        ),
    ] {
        let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
        let chat = one_call(&store, tools(&log), "plain", program);
        let response = ask(&chat).limits(limits).call().await.unwrap();
        assert_eq!(response.text(), expected);
        assert_nested(&stored_entries(&store, ROOM).await);
    }
}

#[tokio::test]
async fn a_program_that_calls_for_ever_ends_the_turn() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let program = (0..1_000).map(|n| json!(["write", { "n": n }])).collect();
    let chat = one_call(&store, tools(&log), "run", program);
    let mut limits = TurnLimits::default();
    (limits.calls, limits.calls_per_tool) = (20, 20);
    let (reason, _) = ended(ask(&chat).limits(limits).call().await);
    assert_eq!(reason, "it asked for 41 calls where 20 are allowed");
    assert_eq!(log.lines().len(), 19);
    let entries = stored_entries(&store, ROOM).await;
    assert_nested(&entries);
    assert_eq!(outcome(&entries, "p"), Outcome::OutcomeUnknown);
}

#[tokio::test]
async fn a_child_that_needs_approval_pauses_the_turn_and_the_rest_is_replayed() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let inner = json!({"calls": [["write", {"n": 2}], ["pay", {"n": 3}], ["write", {"n": 4}]]});
    let program = json!([["write", {"n": 1}], ["run", inner], ["pay", {"n": 5}]]);
    let paused = ask(&one_call(&store, tools(&log), "run", program.clone())).call().await.unwrap();
    assert_eq!(log.lines(), ["write 1", "write 2"]);
    let asked = &paused.pending_approvals()[0];
    assert_eq!((asked.call.id.as_str(), asked.parent.as_ref().unwrap().as_str()), ("p.2.2", "p.2"));
    // Another process goes on.
    let chat = one_call(&store, tools(&log), "run", program.clone());
    let decided = vec![paused.pending_approvals()[0].edit(json!({"n": 30}))];
    let paused = chat.submit_approvals(ROOM, decided).call().await.unwrap();
    assert_eq!(log.lines(), ["write 1", "write 2", "pay 30", "write 4"]);
    assert_eq!(paused.pending_approvals()[0].call.id, "p.3");
    let chat = one_call(&store, tools(&log), "run", program);
    let decided = vec![paused.pending_approvals()[0].deny("too much")];
    let response = chat.submit_approvals(ROOM, decided).call().await.unwrap();
    assert!(response.text().starts_with("write 1, write 2, pay 30, write 4, "), "{response:?}");
    assert!(response.text().contains("too much"), "{response:?}");
    assert_eq!(log.lines().len(), 4, "each effect once");
    assert_nested(&stored_entries(&store, ROOM).await);
}

#[tokio::test]
async fn calls_with_an_effect_wait_for_the_approval_of_a_child() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let arguments = calls(json!([["pay", {"n": 1}]]));
    let model = ScriptedModel::new()
        .calls_all([("run", arguments.as_str()), ("write", r#"{"n": 2}"#), ("look", r#"{"n": 3}"#)])
        .replies("Done.");
    let chat = builder(model, tools(&log)).store(Arc::clone(&store)).build();
    let paused = ask(&chat).call().await.unwrap();
    assert_eq!(log.lines(), ["look 3"]);
    let decided = vec![paused.pending_approvals()[0].approve()];
    let response = chat.submit_approvals(ROOM, decided).call().await.unwrap();
    assert_eq!(response.text(), "Done.");
    assert_eq!(log.lines(), ["look 3", "pay 1", "write 2"]);
}

#[tokio::test]
async fn a_call_that_cannot_be_replayed_cannot_wait_for_an_approval() {
    for (outer, program) in [
        ("plain", json!([["pay", {"n": 1}], ["write", {"n": 2}]])),
        ("plain", json!([["run", {"calls": [["pay", {"n": 1}], ["write", {"n": 2}]]}]])),
    ] {
        let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
        let chat = one_call(&store, tools(&log), outer, program);
        let response = ask(&chat).call().await.unwrap();
        let text = response.text();
        assert!(text.contains("cannot wait for one: it is not replayable, write 2"), "{text}");
        assert_eq!(log.lines(), ["write 2"]);
        assert_nested(&stored_entries(&store, ROOM).await);
    }
}

#[tokio::test]
async fn a_call_without_an_effect_yet_waits_for_an_approval_and_runs_again_once() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let arguments = calls(json!([["pay", {"n": 1}]]));
    let model = ScriptedModel::new()
        .calls_all([
            ("guarded", arguments.as_str()),
            ("again", r#"{"n": 2}"#),
            ("look", r#"{"n": 3}"#),
        ])
        .replies("Done.");
    let chat = builder(model, tools(&log)).store(Arc::clone(&store)).build();
    let paused = ask(&chat).call().await.unwrap();
    assert_eq!(log.lines(), ["look 3"], "no effect before the decision");
    let decided = vec![paused.pending_approvals()[0].approve()];
    let response = chat.submit_approvals(ROOM, decided).call().await.unwrap();
    assert_eq!(response.text(), "Done.");
    assert_eq!(log.lines(), ["look 3", "pay 1", "guarded", "again 2"]);
    assert_nested(&stored_entries(&store, ROOM).await);
}

#[tokio::test]
async fn a_call_without_an_effect_yet_reads_that_its_child_was_denied() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let program = json!([["pay", {"n": 1}]]);
    let chat = one_call(&store, tools(&log), "guarded", program.clone());
    let paused = ask(&chat).call().await.unwrap();
    // Another process goes on.
    let chat = one_call(&store, tools(&log), "guarded", program);
    let decided = vec![paused.pending_approvals()[0].deny("not today")];
    let response = chat.submit_approvals(ROOM, decided).call().await.unwrap();
    assert!(response.text().starts_with("not done: "), "{response:?}");
    assert!(response.text().contains("not today"), "{response:?}");
    assert!(log.lines().is_empty(), "{:?}", log.lines());
}

struct Approves;

impl Approver for Approves {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move { request.approve() })
    }
}

#[tokio::test]
async fn an_approver_decides_about_a_child_in_place() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let program = json!([["write", {"n": 1}], ["pay", {"n": 2}], ["write", {"n": 3}]]);
    let chat = builder(asks_once("plain", program), tools(&log)).approver(Approves);
    let response = ask(&chat.store(Arc::clone(&store)).build()).call().await.unwrap();
    assert_eq!(response.text(), "write 1, pay 2, write 3");
    let entries = of_calls(&stored_entries(&store, ROOM).await);
    assert!(entries.contains(&"decided p.2 in p".to_owned()), "{entries:?}");
}

#[tokio::test]
async fn a_child_can_call_only_what_the_turn_may_call() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let program = json!([["write", {"n": 1}], ["nothing", {}], ["look", {"n": "x"}]]);
    let chat = one_call(&store, tools(&log), "run", program);
    ask(&chat).exclude(["write"]).call().await.unwrap();
    let entries = stored_entries(&store, ROOM).await;
    assert_eq!(outcome(&entries, "p.1"), Outcome::UnknownTool);
    assert_eq!(outcome(&entries, "p.2"), Outcome::UnknownTool);
    assert_eq!(outcome(&entries, "p.3"), Outcome::InvalidArguments);
    assert!(log.is_empty());
}

#[tokio::test]
async fn a_read_only_call_makes_read_only_calls() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let reads = program(Tool::builder("reads", "Reads.").read_only(true));
    let program = json!([["look", {"n": 1}], ["write", {"n": 2}]]);
    let chat = one_call(&store, [tools(&log), vec![reads]].concat(), "reads", program);
    let response = ask(&chat).call().await.unwrap();
    assert_eq!(
        response.text(),
        "look 1, `reads` is read-only, and may not call `write`, which is not"
    );
    assert_eq!(log.lines(), ["look 1"]);
}

#[tokio::test]
async fn calls_inside_of_each_other_have_a_limit() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let mut program = json!([["write", {"n": 1}]]);
    for _ in 0..9 {
        program = json!([["run", { "calls": program }]]);
    }
    let chat = one_call(&store, tools(&log), "run", program);
    let response = ask(&chat).call().await.unwrap();
    assert_eq!(response.text(), "the call did not run: it is inside of more than 8 other calls");
    assert!(log.is_empty());
    assert_nested(&stored_entries(&store, ROOM).await);
}

#[tokio::test]
async fn a_fatal_error_of_a_child_ends_the_turn() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let burn = failing_tool("burn", || ToolError::fatal("the house is on fire"));
    let program = json!([["burn", {}], ["write", {"n": 1}]]);
    let chat = one_call(&store, [tools(&log), vec![burn]].concat(), "run", program);
    let (reason, _) = ended(ask(&chat).call().await);
    assert_eq!(reason, "the house is on fire");
    assert!(log.is_empty());
    assert_nested(&stored_entries(&store, ROOM).await);
}

/// A tool that calls tools at the same time, or does not wait for them.
fn with_caller<F, R>(name: &str, run: F) -> Tool
where
    F: Fn(ToolCaller) -> R + Send + Sync + 'static,
    R: Future<Output = String> + Send + 'static,
{
    let tool = Tool::builder(name, "Calls tools.").replayable(true);
    tool.run_async(move |_, cx| run(cx.tools())).unwrap()
}

#[tokio::test]
async fn children_with_an_effect_run_in_the_order_in_which_they_are_made() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let all = with_caller("all", |tools| async move {
        let call = |tool: &str, n| tools.call(tool, json!({ "n": n }));
        let calls = [call("write", 1), call("pay", 2), call("look", 3), call("write", 4)];
        // Numbers do not depend on which future is polled first.
        let results = join_all(calls.into_iter().rev()).await;
        results.iter().map(|result| result.text()).collect::<Vec<_>>().join(", ")
    });
    let chat = one_call(&store, [tools(&log), vec![all]].concat(), "all", json!([]));
    let model = ScriptedModel::new().calls("all", "{}").replies("Done.");
    let paused = ask(&chat).model(model).call().await.unwrap();
    let pending = paused.pending_approvals();
    assert_eq!(pending.len(), 1);
    assert!(pending[0].call.id.as_str().ends_with(".2"));
    assert_eq!(log.lines(), ["write 1", "look 3"]);
    let decided = vec![pending[0].approve()];
    let response = paused.submit_approvals(decided).call().await.unwrap();
    assert_eq!(response.text(), "Done.");
    assert_eq!(response.results()[0].text(), "write 4, look 3, pay 2, write 1");
    assert_eq!(log.lines(), ["write 1", "look 3", "pay 2", "write 4"]);
}

#[tokio::test]
async fn a_child_that_its_tool_does_not_wait_for_is_cancelled() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let started = Arc::new(Notify::new());
    let hang = Tool::builder("hang", "Never ends.").run_async({
        let started = Arc::clone(&started);
        move |_, _| {
            started.notify_one();
            pending::<String>()
        }
    });
    let drops = with_caller("drops", move |tools| {
        let started = Arc::clone(&started);
        async move {
            drop(tools.call("write", json!({"n": 1})));
            tokio::select! {
                _ = tools.call("hang", json!({})) => {}
                () = started.notified() => {}
            }
            let last = tools.call("write", json!({"n": 2})).await.text().into_owned();
            tokio::spawn(tools.call("hang", json!({})));
            started.notified().await;
            last
        }
    });
    let tools = [tools(&log), vec![hang.unwrap(), drops]].concat();
    let model = ScriptedModel::new().calls("drops", "{}").replies("Done.");
    let chat = builder(model, tools).store(Arc::clone(&store)).build();
    let response = ask(&chat).call().await.unwrap();
    assert_eq!(response.results()[0].text(), "write 2");
    assert_eq!(log.lines(), ["write 2"]);
    let entries = stored_entries(&store, ROOM).await;
    assert_nested(&entries);
    let children = entries.iter().filter(|it| matches!(it.body, EntryBody::ChildCall { .. }));
    let outcomes = children.map(|it| match &it.body {
        EntryBody::ChildCall { call, .. } => outcome(&entries, call.id.as_str()),
        _ => Outcome::Ok,
    });
    let outcomes: Vec<Outcome> = outcomes.collect();
    assert_eq!(outcomes, [Outcome::Cancelled, Outcome::Ok, Outcome::Cancelled]);
}

#[tokio::test]
async fn a_program_that_makes_other_calls_when_it_runs_again_fails() {
    for (changes, expected) in [
        ("tool", "its child call 1 was of `write`, and is of `again` now"),
        ("arguments", "its child call 1 of `write` has other arguments now"),
    ] {
        let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
        let runs = Arc::new(AtomicUsize::new(0));
        let fickle = with_caller("fickle", move |tools| {
            let run = runs.fetch_add(1, Ordering::SeqCst);
            async move {
                let tool = if changes == "tool" && run > 0 { "again" } else { "write" };
                let n = if changes == "arguments" { run } else { 0 };
                tools.call(tool, json!({ "n": n })).await;
                tools.call("pay", json!({"n": 1})).await.text().into_owned()
            }
        });
        let model = ScriptedModel::new().calls("fickle", "{}").replies("Done.");
        let tools = [tools(&log), vec![fickle]].concat();
        let chat = builder(model, tools).store(Arc::clone(&store)).build();
        let paused = ask(&chat).call().await.unwrap();
        let decided = vec![paused.pending_approvals()[0].approve()];
        let response = paused.submit_approvals(decided).call().await.unwrap();
        let result = &response.results()[0];
        assert_eq!(result.outcome, Outcome::Failed);
        assert!(result.text().contains(expected), "{}", result.text());
        assert_eq!(log.lines(), ["write 0"], "what was approved does not run");
        assert_nested(&stored_entries(&store, ROOM).await);
    }
}

/// Polls a turn until it returns, or until no polls are left; returns its response if it has one by then.
async fn polled(request: TurnRequest, polls: &mut usize) -> Option<Response> {
    let mut turn = Box::pin(request.call());
    while *polls > 0 {
        *polls -= 1;
        if let Some(response) = turn.as_mut().now_or_never() {
            return Some(response.unwrap());
        }
        yield_now().await;
    }
    drop(turn);
    // The lease of a dropped turn is released by a task.
    yield_now().await;
    None
}

/// A tool with an effect, which can be interrupted before and after it.
fn slow(name: &str, log: &Log) -> Tool {
    let (log, name) = (log.clone(), name.to_owned());
    let tool = Tool::builder(&*name, "Has an effect.").destructive(name == "pay");
    tool.param::<i64>("n", "Which.")
        .run_async(move |args, _| {
            let line = format!("{name} {}", args.get::<i64>("n").unwrap());
            let log = log.clone();
            async move {
                yield_now().await;
                log.write(line.as_str());
                yield_now().await;
                line
            }
        })
        .unwrap()
}

/// A program that crashes.
struct Crashing {
    tool: &'static str,
    program: Value,
    invoker: Invoker,
    log: Log,
}

impl Crashing {
    fn new(tool: &'static str, program: Value) -> Self {
        let log = Log::default();
        let effects = [slow("write", &log), slow("pay", &log)];
        let programs = vec![replayable(), plain(), guarded(&log), read_tool(&log)];
        let tools = [programs, effects.into()].concat();
        Self { tool, program, invoker: Invoker::new(registry(tools)).unwrap(), log }
    }

    /// A process that has just started.
    fn process(&self, store: &YieldingStore) -> Chat {
        let model = asks_once(self.tool, self.program.clone());
        Chat::builder(&self.invoker, model).store(store.clone()).build()
    }

    /// Takes it through two crashes and its approvals to its end; returns whether both happened.
    async fn crash(&self, crashes: [usize; 2]) -> bool {
        let store = YieldingStore::default();
        let logged = self.log.lines().len();
        let mut crashes = crashes.into_iter().chain([usize::MAX]);
        let mut polls = crashes.next().unwrap();
        let mut crashed = 0;
        let mut request = ask(&self.process(&store));
        let response = loop {
            match polled(request, &mut polls).await {
                Some(response) if response.end().is_some() => break response,
                Some(paused) => {
                    let decided = paused.pending_approvals().iter().map(|asked| asked.approve());
                    request = self.process(&store).submit_approvals(ROOM, decided.collect());
                }
                None => {
                    crashed += 1;
                    polls = crashes.next().unwrap();
                    let process = self.process(&store);
                    let is_empty = store.load(ROOM).await.unwrap().is_empty();
                    request = if is_empty { ask(&process) } else { process.resume(ROOM) };
                }
            }
        };
        assert_eq!(response.end(), Some(&TurnEnd::Answered));
        let entries = store.load(ROOM).await.unwrap();
        assert_nested(&entries);
        self.assert_once(&self.log.lines()[logged..], &entries);
        crashed == 2
    }

    /// Asserts that no effect happened twice, and that each one with a result happened.
    fn assert_once(&self, lines: &[String], entries: &[Entry]) {
        let effects = || lines.iter().filter(|line| !line.starts_with("look"));
        assert_eq!(effects().collect::<HashSet<_>>().len(), effects().count(), "{lines:?}");
        for entry in entries {
            if let EntryBody::CallFinished { result } = &entry.body
                && ["write", "pay"].contains(&result.tool.as_str())
            {
                let happened = lines.contains(&result.text().into_owned());
                assert_eq!(happened, result.outcome == Outcome::Ok, "{result:?}");
                // All else of a replayable program goes on after a crash.
                let unknown = result.outcome == Outcome::OutcomeUnknown;
                assert!(happened || unknown || self.tool != "run", "{result:?}");
            }
        }
    }
}

/// Runs a program with a crash at every point, and a second one at every third point after it; returns the number of cases.
async fn crash_everywhere(tool: &'static str, program: Value) -> usize {
    let crashing = Crashing::new(tool, program);
    let mut cases = 0;
    for first in 0.. {
        let before = cases;
        while crashing.crash([first, 3 * (cases - before)]).await {
            cases += 1;
        }
        if cases == before {
            break;
        }
    }
    cases
}

#[tokio::test]
async fn no_effect_happens_twice_whenever_a_program_crashes() {
    let inner = json!({"calls": [["write", {"n": 2}], ["pay", {"n": 3}]]});
    let cases = crash_everywhere("run", json!([["look", {"n": 1}], ["run", inner]])).await;
    assert!(cases > 200, "{cases} cases");
    let inner = json!({"calls": [["write", {"n": 2}]]});
    let cases = crash_everywhere("plain", json!([["look", {"n": 1}], ["run", inner]])).await;
    assert!(cases > 40, "{cases} cases");
    let cases = crash_everywhere("guarded", json!([["pay", {"n": 1}]])).await;
    assert!(cases > 40, "{cases} cases");
}

#[tokio::test]
async fn every_part_of_a_journal_is_repaired_and_imported_with_one_result_per_call() {
    let (store, log) = (Arc::new(MemoryStore::new()), Log::default());
    let inner = json!({"calls": [["write", {"n": 2}], ["look", {"n": 3}]]});
    let program = json!([["write", {"n": 1}], ["run", inner], ["pay", {"n": 4}]]);
    let chat = one_call(&store, tools(&log), "run", program);
    let paused = ask(&chat).call().await.unwrap();
    let decided = vec![paused.pending_approvals()[0].approve()];
    paused.submit_approvals(decided).call().await.unwrap();
    let whole = stored_entries(&store, ROOM).await;
    let (repaired, remarks) = repair_journal(whole.clone());
    assert_eq!((repaired.len(), remarks), (whole.len(), Vec::new()));
    for end in 1..whole.len() {
        let (imported, _) = import_journal(whole[..end].to_vec());
        assert_nested(&imported);
        assert!(matches!(imported.last().unwrap().body, EntryBody::TurnEnded { .. }));
        let mut gap = whole.clone();
        gap.remove(end);
        let (imported, _) = import_journal(gap);
        assert_nested(&imported);
        let again = repair_journal(imported.clone());
        assert_eq!((again.0.len(), again.1), (imported.len(), Vec::new()));
    }
}

/// An approver who takes an hour.
struct Slow;

impl Approver for Slow {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(60 * 60)).await;
            request.approve()
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_in_which_an_approver_decides_does_not_count() {
    let log = Log::default();
    let day = Duration::from_secs(24 * 60 * 60);
    let patient = program(Tool::builder("patient", "Waits.").timeout(day));
    let inside = r#"{"calls": [["pay", {"n": 1}], ["pay", {"n": 2}]]}"#;
    let model = ScriptedModel::new().calls("pay", r#"{"n": 0}"#).calls("patient", inside);
    let chat = builder(model.replies("Paid."), vec![patient, pay(&log)]);
    let chat = chat.approver(Slow).approval_timeout(day).build();
    assert_eq!(chat.message().user("Pay!").call().await.unwrap().text(), "Paid.");
    assert_eq!(log.lines(), ["pay 0", "pay 1", "pay 2"]);
}
