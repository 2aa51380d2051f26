//! Approvers that decide while the turn waits.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use toolwright::chat::{ChatEvent, TurnEnd};
use toolwright::testing::ScriptedModel;
use toolwright::{ApprovalDecision, ApprovalRequest, Approver, CancellationToken};

use crate::support::{
    Log, assert_complete, builder, events, kinds, last_result_texts, pay, read_tool, write,
};

/// An approver that never answers.
struct Asleep;

impl Approver for Asleep {
    fn decide<'a>(&'a self, _: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(std::future::pending())
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .calls_all([("write", r#"{"n": 1}"#), ("pay", r#"{"n": 2}"#), ("look", r#"{"n": 3}"#)])
        .replies("Done.")
}

async fn decided(
    decide: impl Fn(ApprovalRequest<'_>) -> ApprovalDecision + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>) {
    let log = Log::default();
    let model = model();
    let chat = builder(model.clone(), vec![write(&log), pay(&log), read_tool(&log)]);
    let chat = chat.approver(decide).build();
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(response.text(), "Done.");
    assert_complete(response.entries());
    (last_result_texts(&model), log.lines())
}

#[tokio::test]
async fn every_decision_can_be_made_inline() {
    let (texts, ran) = decided(|request| request.approve()).await;
    assert_eq!(texts, ["write 1", "pay 2", "look 3"]);
    assert_eq!(ran, ["look 3", "write 1", "pay 2"]);
    let (texts, _) = decided(|request| request.edit(json!({"n": 9}))).await;
    assert_eq!(texts[1], "pay 9");
    let (texts, ran) = decided(|request| request.deny("never")).await;
    assert_eq!(texts[1], "the call was denied: never");
    assert_eq!(ran, ["look 3", "write 1"]);
    let (texts, ran) = decided(|request| request.answer("paid")).await;
    assert_eq!((texts[1].as_str(), ran.len()), ("paid", 2));
}

#[tokio::test]
async fn an_approver_that_panics_has_not_approved() {
    let (texts, ran) = decided(|_| panic!("who am I to judge")).await;
    assert_eq!(texts[1], "the call was denied: the one who was asked could not decide");
    assert_eq!(ran, ["look 3", "write 1"]);
}

#[tokio::test]
async fn requests_and_decisions_are_emitted() {
    let log = Log::default();
    let chat = builder(ScriptedModel::new().calls("pay", "{}").replies("Done."), pay(&log));
    let chat = chat.approver(|request: ApprovalRequest<'_>| request.approve()).build();
    let (events, _) = events(chat.message().user("Pay!").stream()).await;
    let kinds: Vec<String> = kinds(&events)
        .into_iter()
        .filter(|kind| ["asked", "decided", "running", "result"].contains(&kind.as_str()))
        .collect();
    assert_eq!(kinds, ["asked", "decided", "running", "result"]);
    assert!(matches!(events.last(), Some(ChatEvent::TurnEnded { .. })));
}

#[tokio::test(start_paused = true)]
async fn an_approver_has_no_more_time_than_the_timeout() {
    let log = Log::default();
    let model = model();
    let chat = builder(model.clone(), vec![write(&log), pay(&log), read_tool(&log)])
        .approver(Asleep)
        .approval_timeout(Duration::from_secs(60))
        .build();
    chat.message().user("Go!").call().await.unwrap();
    assert_eq!(last_result_texts(&model)[1], "the call was denied: nobody decided in time");
    assert_eq!(log.lines(), ["look 3", "write 1"]);
}

#[tokio::test]
async fn a_turn_that_waits_for_an_approver_can_be_cancelled() {
    let log = Log::default();
    let chat = builder(model(), vec![write(&log), pay(&log), read_tool(&log)]);
    let chat = chat.approver(Asleep).build();
    let token = CancellationToken::new();
    let ask = chat.message().cancel_on(token.clone()).user("Go!");
    let (response, ()) = tokio::join!(ask.call(), async {
        tokio::task::yield_now().await;
        token.cancel();
    });
    let response = response.unwrap();
    assert_eq!(response.end(), Some(&TurnEnd::Cancelled));
    assert_eq!(log.lines(), ["look 3"]);
    assert_complete(response.entries());
}
