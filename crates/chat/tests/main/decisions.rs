//! Approval responses of another process, for another call, too late, or of another principal.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::chat::{
    ApprovalResponse, ApprovalVerdict, Chat, ChatError, Entry, EntryBody, MemoryStore,
    PendingApproval, PrincipalRecord, Response, Store as _,
};
use toolwright::testing::ScriptedModel;
use toolwright::{CallId, Caller, Outcome, Tool};

use crate::support::{
    Log, assert_complete, builder, logging_tool, pay, read_tool, store_entries, stored_entries,
    write,
};

const ROOM: &str = "room";

/// A store, the log of its tools, and chats that are restarted.
#[derive(Clone, Default)]
struct ApprovalFixture {
    store: Arc<MemoryStore>,
    log: Log,
}

impl ApprovalFixture {
    /// A chat as a process has it after a restart.
    fn chat(&self, model: ScriptedModel, tools: Vec<Tool>) -> Chat {
        let chat = builder(model, tools).store(Arc::clone(&self.store));
        chat.build()
    }

    fn tools(&self) -> Vec<Tool> {
        vec![pay(&self.log), write(&self.log), read_tool(&self.log)]
    }

    async fn pause(&self, calls: &[(&str, &str)]) -> Response {
        let model = ScriptedModel::new().calls_all(calls.iter().copied());
        let chat = self.chat(model, self.tools());
        let request = chat.message().conversation(ROOM).user("Go!");
        request.call().await.unwrap()
    }

    /// Decides in another process.
    async fn decide(&self, decided: Vec<ApprovalResponse>) -> Result<Response, ChatError> {
        let chat = self.chat(ScriptedModel::new().replies("Done."), self.tools());
        chat.submit_approvals(ROOM, decided).call().await
    }

    /// Asserts that responses are rejected, and change nothing.
    async fn assert_refused(&self, decided: Vec<ApprovalResponse>, message: &str) {
        let before = stored_entries(&self.store, ROOM).await.len();
        let error = self.decide(decided).await.unwrap_err();
        assert!(matches!(error, ChatError::Rejected { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(stored_entries(&self.store, ROOM).await.len(), before);
        assert!(self.log.is_empty(), "{:?}", self.log.lines());
    }
}

/// Sends a decision through JSON.
fn sent(decided: &ApprovalResponse) -> ApprovalResponse {
    let json = serde_json::to_string(decided).unwrap();
    serde_json::from_str(&json).unwrap()
}

#[tokio::test]
async fn a_decision_can_be_made_in_another_process() {
    let desk = ApprovalFixture::default();
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#), ("pay", r#"{"n": 2}"#)]).await;
    let decided = vec![
        sent(&paused.pending_approvals()[0].approve()),
        sent(&paused.pending_approvals()[1].edit(json!({"n": 3}))),
    ];
    let response = desk.decide(decided).await.unwrap();
    assert_eq!(response.text(), "Done.");
    assert_eq!(desk.log.lines(), ["pay 1", "pay 3"]);
    assert_complete(&stored_entries(&desk.store, ROOM).await);
}

#[tokio::test]
async fn a_token_that_was_tampered_with_is_refused() {
    let desk = ApprovalFixture::default();
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#)]).await;
    let whole = serde_json::to_value(paused.pending_approvals()[0].approve()).unwrap();
    for field in ["id", "digest", "expires", "signature"] {
        let mut forged = whole.clone();
        forged["token"][field] = match &whole["token"][field] {
            Value::Number(number) => json!(number.as_u64().unwrap() + 1),
            Value::String(text) => json!(format!("0{}", &text[1..]).replacen("00", "01", 1) + "0"),
            other => panic!("{other}"),
        };
        let forged: ApprovalResponse = serde_json::from_value(forged).unwrap();
        desk.assert_refused(vec![forged], "the token is not the one").await;
    }
    desk.decide(vec![serde_json::from_value(whole).unwrap()]).await.unwrap();
    assert_eq!(desk.log.lines(), ["pay 1"]);
}

#[tokio::test]
async fn of_several_decisions_all_count_or_none() {
    let desk = ApprovalFixture::default();
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#), ("pay", r#"{"n": 2}"#)]).await;
    let [first, second] = paused.pending_approvals() else { panic!("two calls wait") };
    let mut swapped = second.approve();
    swapped.token = first.token.clone();
    let good = first.approve();
    desk.assert_refused(vec![good.clone(), swapped], "the token is not the one").await;
    desk.assert_refused(vec![good.clone(), first.deny("no")], "two decisions").await;
    desk.decide(vec![good.clone()]).await.unwrap();
    assert!(desk.log.is_empty(), "the other still waits");
    desk.assert_refused(vec![good], "decided already").await;
}

#[tokio::test]
async fn a_token_of_another_conversation_is_refused() {
    let (here, there) = (ApprovalFixture::default(), ApprovalFixture::default());
    here.pause(&[("pay", r#"{"n": 1}"#)]).await;
    let paused = there.pause(&[("pay", r#"{"n": 1}"#)]).await;
    here.assert_refused(vec![paused.pending_approvals()[0].approve()], "the token is not the one")
        .await;
    // The same store and key, and the same id of a call, in another room.
    let chat = here.chat(ScriptedModel::new().calls("pay", r#"{"n": 1}"#), here.tools());
    let other = chat.message().conversation("other").user("Go!");
    let other = other.call().await.unwrap();
    here.assert_refused(vec![other.pending_approvals()[0].approve()], "the token is not the one")
        .await;
}

#[tokio::test]
async fn a_decision_counts_once() {
    let desk = ApprovalFixture::default();
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#)]).await;
    let approve = paused.pending_approvals()[0].approve();
    desk.decide(vec![approve.clone()]).await.unwrap();
    assert_eq!(desk.log.lines(), ["pay 1"]);
    let again = desk.decide(vec![approve.clone()]).await.unwrap_err();
    assert!(again.to_string().contains("does not wait"), "{again}");
    // Not even through the response itself.
    let again = paused.submit_approvals(vec![approve]).call().await.unwrap_err();
    assert!(again.to_string().contains("does not wait"), "{again}");
    assert_eq!(desk.log.lines(), ["pay 1"]);
}

#[tokio::test]
async fn a_call_that_does_not_wait_cannot_be_decided() {
    let desk = ApprovalFixture::default();
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#), ("write", r#"{"n": 2}"#)]).await;
    for call in ["call_0_1", "call_7", ""] {
        let mut decided = paused.pending_approvals()[0].approve();
        decided.call = call.into();
        desk.assert_refused(vec![decided], "does not wait for a decision").await;
    }
    let nowhere = desk.chat(ScriptedModel::new(), desk.tools());
    let decided = vec![paused.pending_approvals()[0].approve()];
    let error = nowhere.submit_approvals("nowhere", decided).call().await.unwrap_err();
    assert!(error.to_string().contains("does not wait"), "{error}");
}

#[tokio::test]
async fn a_decision_that_comes_too_late_is_no_decision() {
    let desk = ApprovalFixture::default();
    let model = ScriptedModel::new().calls("pay", r#"{"n": 1}"#).replies("Too late.");
    let chat = builder(model, desk.tools())
        .store(Arc::clone(&desk.store))
        .approval_timeout(Duration::ZERO)
        .build();
    let request = chat.message().conversation(ROOM).user("Go!");
    let response = request.call().await.unwrap();
    assert_eq!(response.text(), "Too late.");
    assert_eq!(response.results()[0].text(), "the call was denied: nobody decided in time");
    assert!(desk.log.is_empty());
}

/// A journal in which one call is decided and another one waits, so that none has run.
async fn half_decided(
    desk: &ApprovalFixture,
    decide: fn(&PendingApproval) -> ApprovalResponse,
) -> Vec<Entry> {
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#), ("pay", r#"{"n": 2}"#)]).await;
    let decided = decide(&paused.pending_approvals()[0]);
    let waiting = desk.decide(vec![decided]).await.unwrap();
    assert_eq!(waiting.pending_approvals().len(), 1);
    stored_entries(&desk.store, ROOM).await
}

/// Replaces the journal of a conversation.
async fn replace_journal(store: &MemoryStore, conversation: &str, entries: &[Entry]) {
    let lease = store.acquire(conversation, "test", Duration::MAX).await.unwrap().unwrap();
    store.delete(&lease).await.unwrap();
    store_entries(store, conversation, entries).await;
}

/// Resumes a conversation in another process; returns the calls that wait.
async fn waiting_calls(desk: &ApprovalFixture, conversation: &str) -> Vec<PendingApproval> {
    let chat = desk.chat(ScriptedModel::new(), desk.tools());
    let response = chat.resume(conversation).call().await.unwrap();
    response.pending_approvals().to_vec()
}

fn decision(entry: &mut Entry) -> (&mut CallId, &mut ApprovalVerdict, &mut Option<String>) {
    match &mut entry.body {
        EntryBody::ApprovalDecided { call, verdict, mac } => (call, verdict, mac),
        other => panic!("no decision: {other:?}"),
    }
}

#[tokio::test]
async fn a_decision_that_was_altered_runs_nothing_and_is_asked_for_again() {
    let foreign = half_decided(&ApprovalFixture::default(), PendingApproval::approve).await;
    let foreign = foreign.last().unwrap().clone();
    type Alteration<'a> = (&'a str, &'a dyn Fn(&mut Entry));
    let alterations: [Alteration<'_>; 7] = [
        ("verdict", &|entry| *decision(entry).1 = ApprovalVerdict::Approve),
        ("arguments", &|entry| {
            *decision(entry).1 = ApprovalVerdict::Edit { arguments: json!({"n": 7}) };
        }),
        ("call", &|entry| *decision(entry).0 = "call_0_1".into()),
        ("stripped", &|entry| *decision(entry).2 = None),
        ("changed", &|entry| decision(entry).2.as_mut().unwrap().push('0')),
        ("approver", &|entry| entry.principal = Some(PrincipalRecord::new("eve"))),
        ("foreign", &|entry| *entry = foreign.clone()),
    ];
    for (name, alter) in alterations {
        let desk = ApprovalFixture::default();
        let mut entries = half_decided(&desk, |asked| asked.deny("no")).await;
        replace_journal(&desk.store, ROOM, &entries).await;
        assert_eq!(waiting_calls(&desk, ROOM).await.len(), 1, "{name}: it is not altered yet");
        alter(entries.last_mut().unwrap());
        replace_journal(&desk.store, ROOM, &entries).await;
        let waiting = waiting_calls(&desk, ROOM).await;
        assert_eq!(waiting.len(), 2, "{name}");
        // Not even if the others are decided.
        let response = desk.decide(vec![waiting[1].approve()]).await.unwrap();
        assert_eq!(response.pending_approvals().len(), 1, "{name}");
        assert!(desk.log.is_empty(), "{name}: {:?}", desk.log.lines());
        desk.decide(vec![waiting[0].approve()]).await.unwrap();
        assert_eq!(desk.log.lines(), ["pay 1", "pay 2"], "{name}");
    }
}

#[tokio::test]
async fn a_decision_of_another_conversation_runs_nothing() {
    let desk = ApprovalFixture::default();
    let entries = half_decided(&desk, PendingApproval::approve).await;
    store_entries(&desk.store, "other", &entries).await;
    assert_eq!(waiting_calls(&desk, "other").await.len(), 2);
    assert_eq!(waiting_calls(&desk, ROOM).await.len(), 1);
    assert!(desk.log.is_empty());
}

#[tokio::test]
async fn a_decision_counts_after_the_key_was_rotated() {
    let desk = ApprovalFixture::default();
    half_decided(&desk, PendingApproval::approve).await;
    desk.store.rotate_signing_key(2).await.unwrap();
    let waiting = waiting_calls(&desk, ROOM).await;
    assert_eq!(waiting.len(), 1);
    desk.decide(vec![waiting[0].approve()]).await.unwrap();
    assert_eq!(desk.log.lines(), ["pay 1", "pay 2"]);
    // Not once its key is removed.
    let desk = ApprovalFixture::default();
    half_decided(&desk, PendingApproval::approve).await;
    desk.store.rotate_signing_key(1).await.unwrap();
    assert_eq!(waiting_calls(&desk, ROOM).await.len(), 2);
    assert!(desk.log.is_empty());
}

#[tokio::test]
async fn a_token_that_has_expired_is_refused() {
    let desk = ApprovalFixture::default();
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#)]).await;
    // The same journal, as it would be read long after.
    let late = ApprovalFixture::default();
    let mut token = serde_json::to_value(&paused.pending_approvals()[0].token).unwrap();
    token["expires"] = json!(1);
    let mut entries = stored_entries(&desk.store, ROOM).await;
    for entry in &mut entries {
        if let EntryBody::ApprovalRequested { token: held, .. } = &mut entry.body {
            *held = serde_json::from_value(token.clone()).unwrap();
        }
    }
    store_entries(&late.store, ROOM, &entries).await;
    let mut decided = paused.pending_approvals()[0].approve();
    decided.token = serde_json::from_value(token).unwrap();
    late.assert_refused(vec![decided], "has expired").await;
}

#[tokio::test]
async fn a_tool_that_has_changed_since_is_not_run() {
    let changed: [fn(&Log) -> Tool; 2] = [
        |log| {
            let pay = Tool::builder("pay", "Pays twice.").title("Payment");
            logging_tool(pay.destructive(true), log)
        },
        |log| {
            let log = log.clone();
            Tool::builder("pay", "Pays a bill.")
                .title("Payment")
                .destructive(true)
                .param::<Option<i64>>("n", "Which.")
                .param::<Option<i64>>("tip", "How much more.")
                .run(move |_, _| log.write("tip"))
                .unwrap()
        },
    ];
    for changed in changed {
        for decide in
            [PendingApproval::approve as fn(&PendingApproval) -> ApprovalResponse, |asked| {
                asked.edit(json!({"n": 2}))
            }]
        {
            let desk = ApprovalFixture::default();
            let paused = desk.pause(&[("pay", r#"{"n": 1}"#)]).await;
            let decided = vec![decide(&paused.pending_approvals()[0])];
            let chat = desk.chat(ScriptedModel::new().replies("Oh."), vec![changed(&desk.log)]);
            let response = chat.submit_approvals(ROOM, decided).call().await.unwrap();
            assert!(desk.log.is_empty());
            let result = &response.results()[0];
            assert_eq!(result.outcome, Outcome::Denied);
            assert_eq!(result.text(), "the call was denied: the approval is for another call");
        }
    }
}

#[tokio::test]
async fn a_tool_that_is_gone_is_not_run_and_not_waited_for() {
    let desk = ApprovalFixture::default();
    let paused = desk.pause(&[("pay", r#"{"n": 1}"#)]).await;
    let gone = || desk.chat(ScriptedModel::new().replies("Oh."), vec![read_tool(&desk.log)]);
    let response = gone().resume(ROOM).call().await.unwrap();
    assert_eq!(response.text(), "Oh.");
    assert_eq!(response.results()[0].outcome, Outcome::UnknownTool);
    let late = gone().submit_approvals(ROOM, vec![paused.pending_approvals()[0].approve()]);
    late.call().await.unwrap_err();
}

#[tokio::test]
async fn an_approval_is_for_the_caller_it_was_asked_for() {
    for (caller, runs) in [("ada", true), ("bob", false)] {
        for decide in
            [PendingApproval::approve as fn(&PendingApproval) -> ApprovalResponse, |asked| {
                asked.edit(json!({"n": 2}))
            }]
        {
            let desk = ApprovalFixture::default();
            let model = ScriptedModel::new().calls("pay", r#"{"n": 1}"#);
            let request = desk.chat(model, desk.tools()).message().conversation(ROOM);
            let paused = request.caller(Caller::new("ada")).user("Go!").call().await.unwrap();
            let chat = desk.chat(ScriptedModel::new().replies("Done."), desk.tools());
            let decided = chat.submit_approvals(ROOM, vec![decide(&paused.pending_approvals()[0])]);
            decided.caller(Caller::new(caller)).call().await.unwrap();
            assert_eq!(!desk.log.is_empty(), runs);
        }
    }
}

#[tokio::test]
async fn a_call_that_needed_approval_still_does_if_the_next_request_does_not_require_it() {
    // The prompt asks before each call; the process that goes on would not.
    for (decide, ran) in [
        (PendingApproval::approve as fn(&PendingApproval) -> ApprovalResponse, "write 1"),
        (|asked| asked.edit(json!({"n": 2})), "write 2"),
        (|asked| asked.deny("no"), ""),
        (|asked| asked.answer("I did it"), ""),
    ] {
        let desk = ApprovalFixture::default();
        let model = ScriptedModel::new().calls("write", r#"{"n": 1}"#);
        let request = desk.chat(model, desk.tools()).message().conversation(ROOM);
        let paused = request.ask_before_each_call().user("Go!").call().await.unwrap();
        desk.decide(vec![decide(&paused.pending_approvals()[0])]).await.unwrap();
        assert_eq!(desk.log.lines().concat(), ran);
    }
}
