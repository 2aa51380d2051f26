//! A turn that waits for approvals: what is shown, what runs meanwhile, and the effect of each decision.

use std::sync::Arc;

use serde_json::json;
use toolwright::chat::{
    ApprovalResponse, ChatEvent, EntryBody, MemoryStore, PendingApproval, TurnEnd, TurnLimits,
};
use toolwright::schema::Tape;
use toolwright::testing::ScriptedModel;
use toolwright::{Outcome, Tool};

use crate::support::{
    Log, assert_complete, builder, chat, events, last_result_texts, logging_tool, pay, read_tool,
    results, stored_entries, write,
};

fn paying() -> ScriptedModel {
    ScriptedModel::new().calls("pay", r#"{"n": "5"}"#).replies("Settled.")
}

/// Calls `pay`, decides, and returns the result that the model reads and the calls that ran.
async fn decided(
    decide: impl Fn(&PendingApproval) -> ApprovalResponse,
) -> (toolwright::ToolResult, Vec<String>) {
    let log = Log::default();
    let model = paying();
    let chat = chat(model.clone(), pay(&log));
    let paused = chat.message().user("Pay!").call().await.unwrap();
    assert!(log.is_empty() && paused.end().is_none());
    let decided = paused.pending_approvals().iter().map(decide).collect();
    let response = paused.submit_approvals(decided).call().await.unwrap();
    assert_eq!(response.text(), "Settled.");
    assert_complete(response.entries());
    (results(&model.requests()[1])[0].clone(), log.lines())
}

#[tokio::test]
async fn an_approver_sees_title_description_and_exact_arguments() {
    let log = Log::default();
    let chat = chat(paying(), pay(&log));
    let response = chat.message().user("Pay!").call().await.unwrap();
    let [asked] = response.pending_approvals() else { panic!("one call waits") };
    assert_eq!(asked.tool.display_name(), "Payment");
    assert_eq!(asked.tool.description, "Pays a bill.");
    assert_eq!(asked.arguments, json!({"n": 5}), "not as the model wrote them");
    assert_eq!(asked.call.arguments.as_str(), r#"{"n": "5"}"#);
    assert!(!response.has_calls());
}

#[tokio::test]
async fn an_approved_call_runs_with_the_arguments_that_were_shown() {
    let (result, ran) = decided(PendingApproval::approve).await;
    assert_eq!(result.text(), "pay 5");
    assert_eq!(ran, ["pay 5"]);
}

#[tokio::test]
async fn the_arguments_of_a_call_are_parsed_once_from_the_model_to_the_tool() {
    let before = Tape::parse_count();
    decided(PendingApproval::approve).await;
    // A release build does not count.
    if cfg!(debug_assertions) {
        assert_eq!(Tape::parse_count() - before, 1);
    }
}

#[tokio::test]
async fn an_edited_call_runs_with_the_edited_arguments() {
    let (result, ran) = decided(|asked| asked.edit(json!({"n": 3}))).await;
    assert_eq!(result.text(), "pay 3");
    assert_eq!(ran, ["pay 3"]);
}

#[tokio::test]
async fn an_edit_into_something_invalid_does_not_run_and_the_model_reads_why() {
    for (edited, message) in
        [(json!({"n": "some"}), "/n"), (json!({"m": 1}), "m"), (json!(3), "object")]
    {
        let (result, ran) = decided(|asked| asked.edit(edited.clone())).await;
        assert_eq!(result.outcome, Outcome::InvalidArguments);
        assert!(result.text().contains(message), "{}", result.text());
        assert!(ran.is_empty());
    }
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_the_model_reads_why() {
    let (result, ran) = decided(|asked| asked.deny("too much")).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert_eq!(result.text(), "the call was denied: too much");
    assert!(ran.is_empty());
}

#[tokio::test]
async fn an_answered_call_does_not_run() {
    let (result, ran) = decided(|asked| asked.answer("I paid it myself")).await;
    assert_eq!(result.outcome, Outcome::Ok);
    assert_eq!(result.text(), "I paid it myself");
    assert!(ran.is_empty());
}

fn mixed() -> ScriptedModel {
    ScriptedModel::new()
        .calls_all([
            ("write", r#"{"n": 1}"#),
            ("pay", r#"{"n": 2}"#),
            ("look", r#"{"n": 3}"#),
            ("pay", r#"{"n": 4}"#),
            ("nobody", "{}"),
        ])
        .replies("Done.")
}

#[tokio::test]
async fn before_the_decisions_only_what_reads_runs() {
    let log = Log::default();
    let model = mixed();
    let chat = chat(model.clone(), vec![write(&log), pay(&log), read_tool(&log)]);
    let paused = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(log.lines(), ["look 3"]);
    let decided: Vec<ApprovalResponse> =
        paused.pending_approvals().iter().map(PendingApproval::approve).collect();
    assert_eq!(decided.len(), 2);
    paused.submit_approvals(decided).call().await.unwrap();
    assert_eq!(log.lines(), ["look 3", "write 1", "pay 2", "pay 4"]);
    let texts = last_result_texts(&model);
    assert_eq!(texts[..4], ["write 1", "pay 2", "look 3", "pay 4"]);
}

#[tokio::test]
async fn calls_can_be_decided_one_by_one() {
    let log = Log::default();
    let chat = chat(mixed(), vec![write(&log), pay(&log), read_tool(&log)]);
    let paused = chat.message().user("Go!").call().await.unwrap();
    let second = paused.pending_approvals()[1].deny("not this one");
    let paused = paused.submit_approvals(vec![second]).call().await.unwrap();
    assert_eq!(log.lines(), ["look 3"], "one decision is left");
    let [first] = paused.pending_approvals() else { panic!("one call waits") };
    let first = first.approve();
    let response = paused.submit_approvals(vec![first]).call().await.unwrap();
    assert_eq!(log.lines(), ["look 3", "write 1", "pay 2"]);
    assert_eq!(response.end(), Some(&TurnEnd::Answered));
    assert_complete(response.entries());
}

#[tokio::test]
async fn a_resumed_turn_emits_its_pending_approvals_again() {
    let log = Log::default();
    let chat = chat(mixed(), vec![write(&log), pay(&log), read_tool(&log)]);
    let request = chat.message().conversation("room").user("Go!");
    let (first, _) = events(request.stream()).await;
    let asked = |events: &[ChatEvent]| -> Vec<String> {
        let asked = events.iter().filter_map(|event| match event {
            ChatEvent::ApprovalRequested(asked) => Some(asked.call.id.to_string()),
            _ => None,
        });
        asked.collect()
    };
    assert_eq!(asked(&first), ["call_0_1", "call_0_3"]);
    let (again, _) = events(chat.resume("room").stream()).await;
    assert_eq!(asked(&again), ["call_0_1", "call_0_3"]);
    match again.last().unwrap() {
        ChatEvent::TurnPaused { calls } => assert_eq!(calls.len(), 2),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_new_message_closes_the_calls_that_wait() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let model = ScriptedModel::new()
        .calls_all([("pay", r#"{"n": 1}"#), ("write", r#"{"n": 2}"#)])
        .replies("As you like.");
    let chat =
        builder(model.clone(), vec![pay(&log), write(&log)]).store(Arc::clone(&store)).build();
    let request = |text: &str| chat.message().conversation("room").user(text);
    let paused = request("Pay!").call().await.unwrap();
    let late = paused.pending_approvals()[0].approve();
    request("No, wait!").call().await.unwrap();
    assert!(log.is_empty());
    let entries = stored_entries(&store, "room").await;
    assert_complete(&entries);
    let texts: Vec<String> = entries
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::CallFinished { result } => Some(result.text().into_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(
        texts,
        [
            "the call did not run: the conversation went on without a decision about it",
            "there is no result of the call: the conversation went on without it"
        ]
    );
    let error = paused.submit_approvals(vec![late]).call().await.unwrap_err();
    assert!(error.to_string().contains("does not wait"), "{error}");
    assert!(log.is_empty());
}

#[tokio::test]
async fn every_call_can_be_made_to_wait() {
    let log = Log::default();
    for of_chat in [true, false] {
        let model = ScriptedModel::new().calls("look", "{}").replies("Seen.");
        let never = Tool::builder("look", "Looks.").approval(toolwright::ApprovalPolicy::Never);
        let tool = logging_tool(never.read_only(true), &log);
        let paused = if of_chat {
            let chat = builder(model, tool).ask_before_each_call().build();
            chat.message().user("Look!").call().await.unwrap()
        } else {
            let request = chat(model, tool).message().ask_before_each_call();
            request.user("Look!").call().await.unwrap()
        };
        assert_eq!(paused.pending_approvals().len(), 1);
    }
    assert!(log.is_empty());
}

#[tokio::test]
async fn waiting_is_not_working() {
    let log = Log::default();
    let chat = chat(paying(), pay(&log));
    let mut limits = TurnLimits::default();
    limits.time = std::time::Duration::from_secs(60);
    let request = chat.message().limits(limits.clone()).user("Pay!");
    let paused = request.call().await.unwrap();
    let mut turn = toolwright::chat::Turn::new(limits);
    let mut entries = paused.entries().to_vec();
    let hour = 3_600_000;
    let at = entries[0].at + hour;
    let call = paused.pending_approvals()[0].call.id.clone();
    let verdict = toolwright::chat::ApprovalVerdict::Approve;
    entries.push(toolwright::chat::Entry::new(
        "late",
        at,
        EntryBody::ApprovalDecided { call, verdict, mac: None },
    ));
    entries.iter().for_each(|entry| turn.apply(entry));
    assert!(turn.deadline() > at, "the hour does not count");
}
