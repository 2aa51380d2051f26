//! A node that receives the messages of another one late: decisions that come there are kept, and runs have an end.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolwright::chat::{Model, Store};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright::{Invoker, Tool, ToolError};
use toolwright_bus::{Bus, BusFuture, BusStatus, InProcessBus, Subscription};

use crate::ag_ui::{self, front_end_tools, messages_with_result, of, user};
use crate::approvals::{PATH, Payments, payment_tool};
use crate::cluster::Cluster;
use crate::rooms::Socket;
use crate::support::{
    ManualModel, SseEvents, TestServer, event_type, find_event, invoker, joined_text, no_tools,
    serve, stored_answer, within_timeout,
};

/// A bus that keeps what its node publishes, once it is told to.
struct HeldBus {
    inner: InProcessBus,
    held: Arc<Held>,
}

/// What is held back; `None` while everything is published.
#[derive(Default)]
struct Held(Mutex<Option<Vec<(String, String)>>>);

impl Held {
    fn hold(&self) {
        *self.0.lock().unwrap() = Some(Vec::new());
    }
}

impl Bus for HeldBus {
    fn publish(&self, channel: &str, message: String) {
        match &mut *self.held.0.lock().unwrap() {
            Some(held) => held.push((channel.to_owned(), message)),
            None => self.inner.publish(channel, message),
        }
    }

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        self.inner.subscribe(channel)
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        self.inner.flush()
    }

    fn status(&self) -> BusStatus {
        self.inner.status()
    }
}

/// A node whose messages can be held back.
async fn serve_held(
    cluster: &Cluster,
    tools: Invoker,
    model: impl Model,
) -> (TestServer, Arc<Held>) {
    let held = Arc::<Held>::default();
    let bus = HeldBus { inner: cluster.bus.node(), held: Arc::clone(&held) };
    (serve(cluster.builder("one", tools, model).bus(bus)).await, held)
}

/// A turn that has paused at one node, where the other one has followed it and knows nothing of the question.
struct PausedElsewhere {
    cluster: Cluster,
    one: TestServer,
    two: TestServer,
    paid: Payments,
    asked: Value,
    held: Arc<Held>,
}

impl PausedElsewhere {
    async fn new() -> Self {
        let (cluster, paid) = (Cluster::new(), Payments::default());
        let permits = Arc::new(Semaphore::new(0));
        let tools = || {
            let permits = Arc::clone(&permits);
            let wait = Tool::builder("wait", "Waits.").read_only(true).run_async(move |_, _| {
                let permits = Arc::clone(&permits);
                async move {
                    permits.acquire().await.unwrap().forget();
                    Ok::<_, ToolError>("waited")
                }
            });
            invoker(vec![payment_tool(&paid), wait.unwrap()])
        };
        let model = ScriptedModel::new().calls("wait", "{}").calls("pay", r#"{"euros": 100}"#);
        let model = model.replies("It is done.");
        let (one, held) = serve_held(&cluster, tools(), model).await;
        let model = ScriptedModel::new().replies("It is done.");
        let two = serve(cluster.builder("two", tools(), model)).await;
        let mut followed = two.events(PATH, None).await;
        let after = one.post_message(PATH, "Pay Bob.").await;
        followed.read_until("running").await;
        held.hold();
        permits.add_permits(1);
        let events = one.events(PATH, Some(after)).await.collect_turn().await;
        assert_eq!(event_type(events.last().unwrap()), "paused");
        let asked = find_event(&events, "asked").clone();
        wait_for_free_lease(&cluster).await;
        Self { cluster, one, two, paid, asked, held }
    }

    fn decision(&self) -> Value {
        let (call, token) = (&self.asked["call"]["id"], &self.asked["token"]);
        json!({ "call": call, "token": token, "verdict": "approve" })
    }

    /// The call has run once, and the turn is over.
    async fn check_done(&self) {
        assert_eq!(stored_answer(&*self.cluster.store, "till").await, "It is done.");
        assert_eq!(*self.paid.lock().unwrap(), [100]);
        assert!(self.cluster.store.inbox("till").await.unwrap().is_empty());
    }
}

/// Waits until no node attends to the conversation.
async fn wait_for_free_lease(cluster: &Cluster) {
    within_timeout(async {
        while cluster.store.lease_status("till").await.unwrap().holder.is_some() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_run_of_ag_ui_is_resumed_at_a_node_that_does_not_know_of_its_interrupt() {
    let paused = PausedElsewhere::new().await;
    let thread = json!({ "threadId": "till" });
    let shown = ag_ui::run(&paused.one, thread.clone()).await;
    let outcome = &of(&shown, "RUN_FINISHED")["outcome"];
    let interrupt = &outcome["interrupts"][0]["id"];
    let entry = json!({
        "interruptId": interrupt, "status": "resolved", "payload": { "approved": true },
    });
    let resume = json!({ "threadId": "till", "resume": [entry] });
    let events = ag_ui::run(&paused.two, resume.clone()).await;
    assert_eq!(of(&events, "RUN_FINISHED")["outcome"], json!({ "type": "success" }), "{events:#?}");
    assert_eq!(of(&events, "TOOL_CALL_RESULT")["content"], "paid 100");
    paused.check_done().await;
    for node in [&paused.two, &paused.one] {
        let again = ag_ui::run(node, resume.clone()).await;
        assert_eq!(again[0]["code"], "unknown_interrupt", "{again:#?}");
    }
    assert_eq!(*paused.paid.lock().unwrap(), [100]);
}

#[tokio::test]
async fn a_thread_of_ag_ui_shows_its_interrupt_at_a_node_that_does_not_know_of_it() {
    let paused = PausedElsewhere::new().await;
    let thread = json!({ "threadId": "till" });
    let here = ag_ui::run(&paused.one, thread.clone()).await;
    let there = ag_ui::run(&paused.two, thread).await;
    let outcome = &of(&there, "RUN_FINISHED")["outcome"];
    assert_eq!(outcome["type"], "interrupt", "{there:#?}");
    assert_eq!(outcome, &of(&here, "RUN_FINISHED")["outcome"]);
}

#[tokio::test]
async fn a_message_of_ag_ui_does_not_pass_over_an_interrupt_that_its_node_does_not_know_of() {
    let paused = PausedElsewhere::new().await;
    let message = json!({ "threadId": "till", "messages": [user("Never mind.")] });
    let refused = ag_ui::run(&paused.two, message).await;
    assert_eq!(refused[0]["code"], "interrupted", "{refused:#?}");
}

#[tokio::test]
async fn the_result_of_a_front_end_s_tool_is_kept_at_a_node_that_does_not_know_of_the_call() {
    let cluster = Cluster::new();
    let model = ScriptedModel::new().calls("blink", r#"{"times": 2}"#);
    let (one, held) = serve_held(&cluster, no_tools(), model).await;
    let model = ScriptedModel::new().replies("I blinked.");
    let two = serve(cluster.builder("two", no_tools(), model)).await;
    two.events(PATH, None).await.read_until("snapshot").await;
    held.hold();
    let tools = front_end_tools();
    let message = json!({ "threadId": "till", "messages": [user("Blink!")], "tools": tools });
    let events = ag_ui::run(&one, message).await;
    let call = &of(&events, "TOOL_CALL_START")["toolCallId"];
    wait_for_free_lease(&cluster).await;
    let messages = messages_with_result(call);
    let result = json!({ "threadId": "till", "messages": messages, "tools": tools });
    let events = ag_ui::run(&two, result).await;
    assert_eq!(ag_ui::text(&events), "I blinked.", "{events:#?}");
}

#[tokio::test]
async fn the_ai_sdk_decides_at_a_node_that_does_not_know_of_the_question() {
    let paused = PausedElsewhere::new().await;
    let call = &paused.asked["call"]["id"];
    let part = json!({
        "type": "tool-pay", "toolCallId": call, "state": "approval-responded", "input": { "euros": 100 },
        "approval": { "id": call, "approved": true, "signature": paused.asked["token"].to_string() },
    });
    let message = json!({ "id": "answer", "role": "assistant", "parts": [part] });
    let body = json!({ "id": "till", "messages": [message] });
    let request = paused.two.request("POST", "/api/chat");
    let request = request.header("content-type", "application/json");
    let mut events = SseEvents::new(paused.two.open(request, &body.to_string()).await);
    let mut parts = Vec::new();
    while let Some(data) = events.next_data().await.filter(|data| data != "[DONE]") {
        parts.push(serde_json::from_str::<Value>(&data).unwrap());
    }
    assert_eq!(find_event(&parts, "tool-output-available")["output"], "paid 100");
    assert_eq!(parts.last().unwrap()["finishReason"], "stop");
    paused.check_done().await;
}

#[tokio::test]
async fn the_native_protocol_decides_at_a_node_that_does_not_know_of_the_question() {
    let paused = PausedElsewhere::new().await;
    let shown = paused.two.get(PATH).await.json();
    assert_eq!(shown["running"], false, "{shown:#}");
    assert_eq!(shown["pending"][0]["call"]["id"], paused.asked["call"]["id"], "{shown:#}");
    assert_eq!(shown["pending"][0]["token"], paused.asked["token"]);
    let decided = paused.two.post(&format!("{PATH}/decide"), paused.decision()).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    let events = paused.two.events(PATH, decided.json()["seq"].as_u64()).await;
    let mut events = events;
    assert_eq!(joined_text(&events.collect_turn().await), "It is done.");
    paused.check_done().await;
}

#[tokio::test]
async fn a_websocket_decides_at_a_node_that_does_not_know_of_the_question() {
    let paused = PausedElsewhere::new().await;
    let mut socket = Socket::open(&paused.two, PATH).await;
    let mut decision = paused.decision();
    decision["type"] = json!("decide");
    socket.send(decision).await;
    socket.until("ended").await;
    paused.check_done().await;
}

#[tokio::test]
async fn a_decision_that_is_sent_to_two_nodes_is_carried_out_once() {
    let paused = PausedElsewhere::new().await;
    let path = format!("{PATH}/decide");
    let (here, there, again) = tokio::join!(
        paused.one.post(&path, paused.decision()),
        paused.two.post(&path, paused.decision()),
        paused.two.post(&path, paused.decision()),
    );
    let answers = [here.status, there.status, again.status];
    assert!(answers.contains(&202), "{answers:?}");
    assert!(answers.iter().all(|status| [202, 409].contains(status)), "{answers:?}");
    paused.check_done().await;
    // What was late arrives, and changes nothing.
    let held = paused.held.0.lock().unwrap().take().unwrap_or_default();
    let bus = paused.cluster.bus.node();
    held.into_iter().for_each(|(channel, message)| bus.publish(&channel, message));
    let again = paused.two.post(&path, paused.decision()).await;
    assert_eq!(again.status, 409, "{again:?}");
    assert_eq!(*paused.paid.lock().unwrap(), [100]);
}

#[tokio::test(start_paused = true)]
async fn a_run_of_ag_ui_whose_events_do_not_arrive_ends_with_its_outcome() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let (one, held) = serve_held(&cluster, no_tools(), model).await;
    let two = serve(cluster.builder("two", no_tools(), FnModel::echo())).await;
    // While the first turn runs, the other node cannot take the second message.
    let after = one.post_message(PATH, "First").await;
    strings.send("one".to_owned()).unwrap();
    one.events(PATH, Some(after)).await.read_until("text").await;
    let second = json!({ "threadId": "till", "messages": [user("Second")] });
    let (mut run, ()) = tokio::join!(ag_ui::open(&two, second), async {
        while cluster.store.inbox("till").await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        strings.send(String::new()).unwrap();
        strings.send("two".to_owned()).unwrap();
    });
    let mut events = Vec::new();
    while events.last().map(event_type) != Some("TEXT_MESSAGE_CONTENT") {
        events.push(run.next().await.expect("the run ended"));
    }
    held.hold();
    strings.send(" is here".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    let finished = events.last().unwrap();
    assert_eq!(finished["outcome"], json!({ "type": "success" }), "{events:#?}");
    let messages = of(&events, "MESSAGES_SNAPSHOT")["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["content"], "two is here");
    assert_eq!(finished["usage"][0]["inputTokens"], 10, "{finished:#}");
}
