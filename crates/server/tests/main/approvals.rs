//! Calls that need approval.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolwright::testing::ScriptedModel;
use toolwright::{BoxFuture, Tool, ToolError};
use toolwright_server::{Endpoint, Interceptor, ServerBuilder, TurnContext, TurnRejection};

use crate::support::{
    TestServer, event_type, event_types, find_event, invoker, joined_text, serve, within_timeout,
};

pub(crate) const PATH: &str = "/api/conversations/till";

/// The payments that were made.
pub(crate) type Payments = Arc<Mutex<Vec<i64>>>;

pub(crate) fn payment_tool(paid: &Payments) -> Tool {
    let paid = Arc::clone(paid);
    Tool::builder("pay", "Pays somebody.")
        .destructive(true)
        .param::<i64>("euros", "How much.")
        .run(move |args, _| {
            let euros: i64 = args.get("euros")?;
            paid.lock().unwrap().push(euros);
            Ok::<_, ToolError>(format!("paid {euros}"))
        })
        .unwrap()
}

pub(crate) fn paying_model() -> ScriptedModel {
    ScriptedModel::new().calls("pay", r#"{"euros": 100}"#).replies("It is done.")
}

async fn start_paused_turn(paid: &Payments) -> (TestServer, Value) {
    let server = serve(ServerBuilder::new(invoker(payment_tool(paid)), paying_model())).await;
    let events = server.post_and_collect(PATH, "Pay Bob.").await;
    assert_eq!(event_type(events.last().unwrap()), "paused");
    (server, find_event(&events, "asked").clone())
}

async fn decide(server: &TestServer, asked: &Value, more: Value) -> crate::support::HttpResponse {
    let mut decision = json!({ "call": asked["call"]["id"], "token": asked["token"] });
    let more = more.as_object().unwrap().clone();
    decision.as_object_mut().unwrap().extend(more);
    server.post(&format!("{PATH}/decide"), decision).await
}

async fn read_to_end(server: &TestServer, decided: &crate::support::HttpResponse) -> Vec<Value> {
    assert_eq!(decided.status, 202, "{decided:?}");
    let after = decided.json()["seq"].as_u64();
    server.events(PATH, after).await.collect_turn().await
}

#[tokio::test]
async fn an_approved_call_runs_once_and_the_turn_goes_on() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    assert_eq!(asked["arguments"], json!({ "euros": 100 }));
    let shown = server.get(PATH).await.json();
    assert_eq!(shown["pending"][0]["call"]["id"], asked["call"]["id"]);
    assert_eq!(shown["running"], false);
    assert!(paid.lock().unwrap().is_empty());
    let decided = decide(&server, &asked, json!({ "verdict": "approve" })).await;
    let events = read_to_end(&server, &decided).await;
    assert_eq!(joined_text(&events), "It is done.");
    assert_eq!(*paid.lock().unwrap(), [100]);
    let again = decide(&server, &asked, json!({ "verdict": "approve" })).await;
    assert_eq!(again.status, 409, "{again:?}");
    assert_eq!(again.json()["error"]["kind"], "refused");
    assert_eq!(server.get(PATH).await.json()["pending"], json!([]));
}

#[tokio::test]
async fn edited_arguments_are_the_ones_that_run() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let edit = json!({ "verdict": "edit", "arguments": { "euros": 5 } });
    let decided = decide(&server, &asked, edit).await;
    let events = read_to_end(&server, &decided).await;
    assert_eq!(*paid.lock().unwrap(), [5]);
    assert_eq!(find_event(&events, "result")["result"]["content"][0]["text"], "paid 5");
}

#[tokio::test]
async fn edited_arguments_that_do_not_fit_run_nothing() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let edit = json!({ "verdict": "edit", "arguments": { "euros": "plenty" } });
    let decided = decide(&server, &asked, edit).await;
    let events = read_to_end(&server, &decided).await;
    assert_eq!(find_event(&events, "result")["result"]["outcome"], "invalid_arguments");
    assert!(paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_the_model_reads_why() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let deny = json!({ "verdict": "deny", "reason": "too much" });
    let events = read_to_end(&server, &decide(&server, &asked, deny).await).await;
    let result = &find_event(&events, "result")["result"];
    assert_eq!(result["outcome"], "denied");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("too much"), "{text}");
    assert!(paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_person_may_answer_in_the_tools_place() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let answer = json!({ "verdict": "answer", "answer": "I paid in cash." });
    let events = read_to_end(&server, &decide(&server, &asked, answer).await).await;
    let result = &find_event(&events, "result")["result"];
    assert_eq!(result["content"][0]["text"], "I paid in cash.");
    assert!(paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_decision_that_is_not_for_this_call_is_refused_and_the_call_goes_on_waiting() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let mut forged = asked.clone();
    forged["token"]["expires"] = json!(u64::MAX);
    let refused = decide(&server, &forged, json!({ "verdict": "approve" })).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    let mut other = asked.clone();
    other["call"]["id"] = json!("another");
    let refused = decide(&server, &other, json!({ "verdict": "approve" })).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    for wrong in [
        json!({ "verdict": "perhaps" }),
        json!({ "verdict": "edit" }),
        json!({ "verdict": "edit", "arguments": 3 }),
    ] {
        let refused = decide(&server, &asked, wrong).await;
        assert_eq!(refused.status, 400, "{refused:?}");
    }
    let decided = decide(&server, &asked, json!({ "verdict": "approve" })).await;
    read_to_end(&server, &decided).await;
    assert_eq!(*paid.lock().unwrap(), [100]);
}

#[tokio::test]
async fn a_turn_that_waits_can_be_stopped() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let after = server.get(PATH).await.json()["seq"].as_u64();
    let stopped = server.post(&format!("{PATH}/stop"), json!({})).await;
    assert_eq!(stopped.json()["stopped"], true);
    let mut events = server.events(PATH, after).await;
    assert_eq!(events.read_until("ended").await["event"]["end"], "cancelled");
    let late = decide(&server, &asked, json!({ "verdict": "approve" })).await;
    assert_eq!(late.status, 409, "{late:?}");
    // The turn that was stopped may be a moment from being over.
    let stop = format!("{PATH}/stop");
    within_timeout(async {
        while server.post(&stop, json!({})).await.json()["stopped"] == true {}
    })
    .await;
}

#[tokio::test]
async fn a_new_message_denies_pending_calls() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let after = server.post_message(PATH, "Never mind.").await;
    let mut events = server.events(PATH, Some(after)).await;
    // A subscriber that shows the call as pending receives its result, and the end of its turn.
    let abandoned = events.collect_turn().await;
    assert_eq!(event_types(&abandoned), ["result", "ended"]);
    assert_eq!(abandoned[0]["result"]["callId"], asked["call"]["id"]);
    assert_eq!(abandoned[0]["result"]["outcome"], "denied");
    assert_eq!(abandoned[1]["end"], "cancelled");
    let answer = events.collect_turn().await;
    assert_eq!(event_types(&answer), ["said", "began", "text", "step", "ended"]);
    assert_eq!(server.get(PATH).await.json()["pending"], json!([]));
    let late = decide(&server, &asked, json!({ "verdict": "approve" })).await;
    assert_eq!(late.status, 409);
    assert!(paid.lock().unwrap().is_empty());
}

/// Rejects the messages that end with a question mark.
struct RejectsQuestions;

impl Interceptor for RejectsQuestions {
    fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async move {
            match turn.message.text().ends_with('?') {
                true => Err(TurnRejection::new("No questions.")),
                false => Ok(()),
            }
        })
    }
}

#[tokio::test]
async fn a_rejected_message_denies_pending_calls_too() {
    let paid = Payments::default();
    let endpoint = Endpoint::assistant().interceptor(RejectsQuestions);
    let server = ServerBuilder::new(invoker(payment_tool(&paid)), paying_model());
    let server = serve(server.endpoint(endpoint)).await;
    server.post_and_collect(PATH, "Pay Bob.").await;
    let after = server.post_message(PATH, "Who is Bob?").await;
    let mut events = server.events(PATH, Some(after)).await;
    assert_eq!(event_types(&events.collect_turn().await), ["result", "ended"]);
    assert_eq!(joined_text(&events.collect_turn().await), "No questions.");
    let shown = server.get(PATH).await.json();
    assert_eq!(shown["pending"], json!([]));
    let kinds: Vec<&str> = shown["entries"].as_array().unwrap().iter().map(entry_kind).collect();
    let expected = ["user", "step", "asked", "finished", "ended", "user", "assistant", "ended"];
    assert_eq!(kinds, expected);
}

fn entry_kind(entry: &Value) -> &str {
    entry["what"].as_object().unwrap().keys().next().unwrap()
}

/// Lets a turn begin when there is a permit for it.
struct Waits(Arc<Semaphore>);

impl Interceptor for Waits {
    fn before<'a>(&'a self, _: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async {
            self.0.acquire().await.unwrap().forget();
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_message_sent_before_the_approval_request_does_not_answer_it() {
    let paid = Payments::default();
    let model = paying_model().replies("Noted.");
    let permits = Arc::new(Semaphore::new(0));
    let endpoint = Endpoint::assistant().interceptor(Waits(Arc::clone(&permits)));
    let server = ServerBuilder::new(invoker(payment_tool(&paid)), model).endpoint(endpoint);
    let server = serve(server).await;
    let after = server.post_message(PATH, "Pay Bob.").await;
    // Sent before the approval is requested.
    server.post_message(PATH, "And water the plants.").await;
    permits.add_permits(2);
    let mut events = server.events(PATH, Some(after)).await;
    let first = events.collect_turn().await;
    assert_eq!(event_type(first.last().unwrap()), "paused");
    let asked = find_event(&first, "asked").clone();
    let decided = decide(&server, &asked, json!({ "verdict": "approve" })).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    assert_eq!(joined_text(&events.collect_turn().await), "It is done.");
    let next = events.collect_turn().await;
    assert_eq!(find_event(&next, "said")["content"][0]["text"], "And water the plants.");
    assert_eq!(*paid.lock().unwrap(), [100]);
}

#[tokio::test]
async fn pending_approvals_outlive_their_room() {
    let paid = Payments::default();
    let server = ServerBuilder::new(invoker(payment_tool(&paid)), paying_model())
        .limits(|limits| limits.max_rooms = 1);
    let server = serve(server).await;
    server.post_and_collect(PATH, "Pay Bob.").await;
    // One room fits in memory: opening another one evicts this one.
    let entered = async { while server.get("/api/conversations/other").await.status != 200 {} };
    within_timeout(entered).await;
    let waiting = within_timeout(async {
        loop {
            let shown = server.get(PATH).await;
            if shown.status == 200
                && let Some(waiting) = shown.json()["pending"].get(0)
            {
                return waiting.clone();
            }
        }
    });
    let waiting = waiting.await;
    let decided = decide(&server, &waiting, json!({ "verdict": "approve" })).await;
    assert_eq!(joined_text(&read_to_end(&server, &decided).await), "It is done.");
    assert_eq!(*paid.lock().unwrap(), [100]);
}

#[tokio::test]
async fn a_decision_may_name_the_call_as_pending_shows_it() {
    let paid = Payments::default();
    let (server, asked) = start_paused_turn(&paid).await;
    let pending = server.get(PATH).await.json()["pending"][0].clone();
    let decision =
        json!({ "call": pending["call"], "token": asked["token"], "verdict": "approve" });
    let decided = server.post(&format!("{PATH}/decide"), decision).await;
    read_to_end(&server, &decided).await;
    assert_eq!(*paid.lock().unwrap(), [100]);
}
