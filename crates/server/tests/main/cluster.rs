//! Several nodes with one store and one bus: any of them serves any conversation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright::chat::{MemoryStore, Model, Store};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright_bus::{Bus, BusFuture, BusStatus, InProcessBus, Subscription};
use toolwright_core::Invoker;
use toolwright_server::{Endpoint, ServerBuilder};

use crate::approvals::{PATH, Payments, paying_model, payment_tool};
use crate::support::{
    ManualModel, TestServer, event_type, find_event, invoker, joined_text, no_tools, serve,
    stored_answer, within_timeout,
};

/// Nodes that share a store and a bus.
pub(crate) struct Cluster {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) bus: InProcessBus,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self { store: Arc::default(), bus: InProcessBus::new() }
    }

    pub(crate) fn builder(&self, name: &str, tools: Invoker, model: impl Model) -> ServerBuilder {
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        let server = ServerBuilder::new(tools, model).store(store, "memory");
        server.bus(self.bus.node()).node_name(name)
    }

    async fn node(&self, name: &str, model: impl Model) -> TestServer {
        serve(self.builder(name, no_tools(), model)).await
    }
}

/// A bus whose connection can be lost.
struct UnsteadyBus {
    inner: InProcessBus,
    is_away: Arc<AtomicBool>,
}

impl Bus for UnsteadyBus {
    fn publish(&self, channel: &str, message: String) {
        if !self.is_away.load(Ordering::Relaxed) {
            self.inner.publish(channel, message);
        }
    }

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        self.inner.subscribe(channel)
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        self.inner.flush()
    }

    fn status(&self) -> BusStatus {
        let mut status = BusStatus::default();
        status.error = self.is_away.load(Ordering::Relaxed).then(|| "away".to_owned());
        status
    }
}

/// A bus that cannot be reached, or that others cannot read: it sends nothing.
struct SilentBus {
    receives: InProcessBus,
    error: Option<&'static str>,
}

impl Bus for SilentBus {
    fn publish(&self, _: &str, _: String) {}

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        self.receives.subscribe(channel)
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn status(&self) -> BusStatus {
        let mut status = BusStatus::default();
        status.error = self.error.map(str::to_owned);
        status
    }
}

#[tokio::test]
async fn a_node_whose_bus_is_away_is_ready_and_reports_it() {
    let cluster = Cluster::new();
    let error = Some("NATS at `nats:4222` closed the connection");
    let away = SilentBus { receives: cluster.bus.node(), error };
    let one = serve(cluster.builder("one", no_tools(), FnModel::echo()).bus(away)).await;
    let ready = one.get("/readyz").await;
    assert_eq!(ready.status, 200);
    assert!(
        ready.text().contains("ready, but the bus to other nodes is away: NATS at"),
        "{ready:?}"
    );
    let metrics = one.get("/metrics").await;
    assert!(metrics.text().contains("\ntoolwright_bus_connected 0\n"), "{}", metrics.text());
    // Turns go on.
    assert_eq!(joined_text(&one.post_and_collect(PATH, "Hi").await), "Hi");
    let two = cluster.node("two", FnModel::echo()).await;
    assert_eq!(two.get("/readyz").await.text(), "ready\n");
    let metrics = two.get("/metrics").await;
    assert!(metrics.text().contains("\ntoolwright_bus_connected 1\n"), "{}", metrics.text());
}

#[tokio::test(start_paused = true)]
async fn a_turn_whose_messages_cannot_be_read_is_noticed() {
    let cluster = Cluster::new();
    let unreadable = SilentBus { receives: cluster.bus.node(), error: None };
    let one = serve(cluster.builder("one", no_tools(), FnModel::echo()).bus(unreadable)).await;
    let two = cluster.node("two", FnModel::echo()).await;
    let mut events = two.events(PATH, None).await;
    assert_eq!(events.read_until("snapshot").await["event"]["entries"], json!([]));
    one.post_and_collect(PATH, "Hi").await;
    let shown = events.read_until("snapshot").await;
    assert_eq!(shown["event"]["entries"].as_array().unwrap().len(), 3, "{shown}");
}

#[tokio::test]
async fn a_conversation_that_one_node_deletes_by_its_age_is_gone_at_the_others() {
    let cluster = Cluster::new();
    let one = cluster.node("one", FnModel::echo()).await;
    one.post_and_collect(PATH, "Hi").await;
    let mut events = one.events(PATH, None).await;
    let shown = events.read_until("snapshot").await;
    assert_eq!(shown["event"]["entries"].as_array().unwrap().len(), 3);
    let old = cluster.builder("two", no_tools(), FnModel::echo()).limits(|limits| {
        limits.max_conversation_age = Some(std::time::Duration::ZERO);
    });
    let _two = serve(old).await;
    let shown = events.read_until("snapshot").await;
    assert_eq!(shown["event"]["entries"], json!([]));
}

#[tokio::test]
async fn a_subscriber_at_another_node_receives_every_event_with_its_number() {
    let cluster = Cluster::new();
    let one = cluster.node("one", FnModel::echo()).await;
    let two = cluster.node("two", FnModel::echo()).await;
    let (mut here, mut there) = (one.events(PATH, None).await, two.events(PATH, None).await);
    here.read_until("snapshot").await;
    there.read_until("snapshot").await;
    for text in ["Hi", "Again"] {
        one.post_message(PATH, text).await;
        let mut same = async || {
            let (line, other) = (here.next().await.unwrap(), there.next().await.unwrap());
            assert_eq!(line, other);
            event_type(&line["event"]).to_owned()
        };
        while same().await != "ended" {}
    }
}

#[tokio::test]
async fn turns_of_different_nodes_continue_the_numbers_without_a_gap() {
    let cluster = Cluster::new();
    let one = cluster.node("one", FnModel::echo()).await;
    let two = cluster.node("two", FnModel::echo()).await;
    let mut events = one.events(PATH, None).await;
    let mut last = events.read_until("snapshot").await["seq"].as_u64().unwrap();
    for (node, text) in [(&one, "a"), (&two, "b"), (&one, "c"), (&two, "d")] {
        node.post_message(PATH, text).await;
        loop {
            let line = events.next().await.unwrap();
            assert_ne!(line["event"]["type"], "snapshot", "{line}");
            let seq = line["seq"].as_u64().unwrap();
            assert!(seq > last, "{seq} after {last}");
            last = seq;
            if line["event"]["type"] == "ended" {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_moves_to_another_node_in_mid_answer_misses_nothing() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let one = cluster.node("one", model).await;
    let two = cluster.node("two", FnModel::echo()).await;
    let after = one.post_message(PATH, "Go.").await;
    strings.send("Half ".to_owned()).unwrap();
    let mut events = one.events(PATH, Some(after)).await;
    let last = events.read_until("text").await["seq"].as_u64();
    drop(events);
    // The other node has nothing of this conversation in memory.
    let mut events = two.events(PATH, last).await;
    strings.send("an answer.".to_owned()).unwrap();
    let next = events.next().await.unwrap();
    assert_eq!(next["seq"].as_u64(), last.map(|last| last + 1), "{next}");
    assert_eq!(next["event"]["delta"], "an answer.");
    let shown = two.get(PATH).await.json();
    assert_eq!((&shown["running"], &shown["entries"]), (&json!(true), &json!([])));
    strings.send(String::new()).unwrap();
    events.read_until("ended").await;
    let shown = two.get(PATH).await.json();
    assert_eq!(shown["running"], false);
    assert_eq!(shown["entries"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_client_that_leaves_a_node_that_follows_no_more_misses_nothing() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let one = cluster.node("one", model).await;
    let is_away = Arc::new(AtomicBool::new(false));
    let bus = UnsteadyBus { inner: cluster.bus.node(), is_away: Arc::clone(&is_away) };
    let two = serve(cluster.builder("two", no_tools(), FnModel::echo()).bus(bus)).await;
    // A turn that the other node has followed to its end.
    let mut followed = two.events(PATH, None).await;
    one.post_message(PATH, "First").await;
    strings.send("one".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    followed.read_until("ended").await;
    is_away.store(true, Ordering::Relaxed);
    let after = one.post_message(PATH, "Second").await;
    strings.send("two".to_owned()).unwrap();
    one.events(PATH, Some(after)).await.read_until("text").await;
    let shown = two.get(PATH).await.json();
    let messages = shown["entries"].as_array().unwrap().iter();
    let messages = messages.filter(|entry| entry["what"].get("user").is_some()).count();
    assert_eq!(messages, 2, "the journal has the second message already: {shown}");
    let mut events = one.events(PATH, shown["seq"].as_u64()).await;
    // Else it would miss the text of the running turn, or receive its message twice.
    let first = within_timeout(events.next()).await.unwrap();
    assert_eq!(event_type(&first["event"]), "snapshot", "{first}");
}

#[tokio::test]
async fn a_message_to_another_node_is_answered_after_the_turn_that_runs() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let one = cluster.node("one", model.clone()).await;
    let two = cluster.node("two", model).await;
    let after = one.post_message(PATH, "First").await;
    strings.send("one".to_owned()).unwrap();
    one.events(PATH, Some(after)).await.read_until("text").await;
    let accepted = two.post(&format!("{PATH}/prompt"), json!({ "text": "Second" })).await;
    assert_eq!((accepted.status, &accepted.json()["queued"]), (202, &json!(true)));
    let mut events = two.events(PATH, None).await;
    strings.send(String::new()).unwrap();
    events.read_until("ended").await;
    // Either node takes it.
    strings.send("two".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    assert_eq!(joined_text(&events.collect_turn().await), "two");
}

#[tokio::test]
async fn a_stop_at_another_node_ends_the_turn_at_once() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let one = cluster.node("one", model).await;
    let two = cluster.node("two", FnModel::echo()).await;
    let after = one.post_message(PATH, "Go.").await;
    strings.send("Half".to_owned()).unwrap();
    let mut events = one.events(PATH, Some(after)).await;
    events.read_until("text").await;
    let stopped = two.post(&format!("{PATH}/stop"), json!({})).await;
    assert_eq!(stopped.json(), json!({ "stopped": true }));
    assert_eq!(events.read_until("ended").await["event"]["end"], "cancelled");
}

#[tokio::test]
async fn a_decision_at_another_node_resumes_the_turn_and_a_second_one_is_rejected() {
    let cluster = Cluster::new();
    let paid = Payments::default();
    let tools = || invoker(payment_tool(&paid));
    let one = serve(cluster.builder("one", tools(), paying_model())).await;
    let model = ScriptedModel::new().replies("It is done.");
    let two = serve(cluster.builder("two", tools(), model)).await;
    let mut here = one.events(PATH, None).await;
    let paused = one.post_and_collect(PATH, "Pay Bob.").await;
    let asked = find_event(&paused, "asked");
    let decision =
        json!({ "call": asked["call"]["id"], "token": asked["token"], "verdict": "approve" });
    let path = format!("{PATH}/decide");
    let decided = two.post(&path, decision.clone()).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    let after = decided.json()["seq"].as_u64();
    let events = two.events(PATH, after).await.collect_turn().await;
    assert_eq!(joined_text(&events), "It is done.");
    assert_eq!(*paid.lock().unwrap(), [100]);
    here.read_until("ended").await;
    for node in [&one, &two] {
        let again = node.post(&path, decision.clone()).await;
        assert_eq!(again.status, 409, "{again:?}");
    }
    assert_eq!(*paid.lock().unwrap(), [100]);
}

#[tokio::test]
async fn a_rejected_decision_is_reported_by_the_node_that_accepted_it() {
    let cluster = Cluster::new();
    let paid = Payments::default();
    let (model, strings) = ManualModel::new();
    let one = serve(cluster.builder("one", invoker(payment_tool(&paid)), model)).await;
    let two = serve(cluster.builder("two", invoker(payment_tool(&paid)), paying_model())).await;
    // A token of another conversation, while a turn runs at the first node.
    let asked = two.post_and_collect("/api/conversations/other", "Pay Bob.").await;
    let asked = find_event(&asked, "asked");
    let after = one.post_message(PATH, "Go.").await;
    strings.send("Half".to_owned()).unwrap();
    one.events(PATH, Some(after)).await.read_until("text").await;
    let decision =
        json!({ "call": asked["call"]["id"], "token": asked["token"], "verdict": "approve" });
    let path = format!("{PATH}/decide");
    let (decided, ()) = tokio::join!(two.post(&path, decision), async {
        strings.send(String::new()).unwrap();
    });
    assert_eq!(decided.status, 409, "{decided:?}");
    assert!(paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_deleted_conversation_is_gone_at_every_node() {
    let cluster = Cluster::new();
    let one = cluster.node("one", FnModel::echo()).await;
    let two = cluster.node("two", FnModel::echo()).await;
    one.post_and_collect(PATH, "Hi").await;
    let mut events = two.events(PATH, None).await;
    let shown = events.read_until("snapshot").await;
    assert_eq!(shown["event"]["entries"].as_array().unwrap().len(), 3);
    assert_eq!(one.delete(PATH).await.status, 204);
    let shown = events.read_until("snapshot").await;
    assert_eq!(shown["event"]["entries"], json!([]));
}

#[tokio::test]
async fn a_room_counts_the_clients_of_all_nodes() {
    let cluster = Cluster::new();
    let room = || Endpoint::new("/chat/{room}").memory(true).broadcast(true);
    let node = async |name| {
        serve(cluster.builder(name, no_tools(), FnModel::echo()).endpoint(room())).await
    };
    let (one, two) = (node("one").await, node("two").await);
    let mut here = one.events("/chat/den", None).await;
    here.read_until("snapshot").await;
    let there = two.events("/chat/den", None).await;
    assert_eq!(here.read_until("peers").await["event"]["count"], 2);
    drop(there);
    assert_eq!(here.read_until("peers").await["event"]["count"], 1);
}

#[tokio::test]
async fn a_node_that_shuts_down_hands_its_turn_over_at_once() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let one = cluster.builder("one", no_tools(), model).limits(|limits| {
        limits.shutdown_grace = std::time::Duration::ZERO;
    });
    let one = serve(one).await;
    let model = ScriptedModel::new().replies("A whole answer.");
    let two = cluster.node("two", model).await;
    let after = one.post_message(PATH, "Go.").await;
    strings.send("Half".to_owned()).unwrap();
    one.events(PATH, Some(after)).await.read_until("text").await;
    let mut events = two.events(PATH, None).await;
    events.read_until("text").await;
    one.end().await;
    assert_eq!(stored_answer(&*cluster.store, "till").await, "A whole answer.");
    events.read_until("ended").await;
}

#[tokio::test]
async fn a_conversation_without_memory_is_served_by_every_node() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let endpoint = || Endpoint::new("/brief/{id}");
    let one = serve(cluster.builder("one", no_tools(), model).endpoint(endpoint())).await;
    let two = cluster.builder("two", no_tools(), FnModel::echo()).endpoint(endpoint());
    let two = serve(two).await;
    let mut events = two.events("/brief/x", None).await;
    events.read_until("snapshot").await;
    one.post_message("/brief/x", "Go.").await;
    strings.send("here".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    assert_eq!(joined_text(&events.collect_turn().await), "here");
}

#[tokio::test]
async fn the_ai_sdk_streams_a_turn_that_another_node_runs() {
    let cluster = Cluster::new();
    let (model, strings) = ManualModel::new();
    let one = cluster.node("one", model.clone()).await;
    let two = cluster.node("two", model).await;
    let after = one.post_message(PATH, "First").await;
    strings.send("one".to_owned()).unwrap();
    one.events(PATH, Some(after)).await.read_until("text").await;
    let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "Second" }] });
    let body = json!({ "id": "till", "messages": [message] });
    let request = two.request("POST", "/api/chat").header("content-type", "application/json");
    let body = body.to_string();
    let (response, ()) = tokio::join!(two.open(request, &body), async {
        strings.send(String::new()).unwrap();
        strings.send("two".to_owned()).unwrap();
        strings.send(String::new()).unwrap();
    });
    let mut events = crate::support::SseEvents::new(response);
    let mut text = String::new();
    while let Some(data) = events.next_data().await.filter(|data| data != "[DONE]") {
        let part: Value = serde_json::from_str(&data).unwrap();
        text.push_str(part["delta"].as_str().unwrap_or_default());
    }
    assert_eq!(text, "two");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_comes_twice_at_whichever_node_a_client_reconnects(
        words in prop::collection::vec("[a-z]{1,5} ", 1..30),
        cuts in prop::collection::vec((0_usize..6, 0_usize..3), 0..12),
        at in 0_usize..3,
    ) {
        runtime().block_on(async {
            let cluster = Cluster::new();
            let (model, strings) = ManualModel::new();
            let mut nodes = Vec::new();
            for name in ["one", "two", "three"] {
                nodes.push(cluster.node(name, model.clone()).await);
            }
            let sent = words.concat();
            let mut after = nodes[at].post_message(PATH, "Go.").await;
            let speak = async {
                for word in words {
                    strings.send(word).unwrap();
                    tokio::task::yield_now().await;
                }
                strings.send(String::new()).unwrap();
            };
            let read = async {
                let mut text = String::new();
                let mut cuts = cuts.iter().copied().chain(std::iter::repeat((usize::MAX, at)));
                loop {
                    let (count, node) = cuts.next().unwrap();
                    let mut events = nodes[node].events(PATH, Some(after)).await;
                    for _ in 0..count {
                        let line = events.next().await.expect("the stream ended");
                        if let Some(seq) = line["seq"].as_u64() {
                            after = seq;
                        }
                        match event_type(&line["event"]) {
                            // The journal before the turn, or all of it.
                            "snapshot" => text = snapshot_text(&line["event"]),
                            "text" => text.push_str(line["event"]["delta"].as_str().unwrap()),
                            "ended" => return text,
                            _ => {}
                        }
                        if line["event"]["type"] == "snapshot" && is_over(&line["event"]) {
                            return text;
                        }
                    }
                }
            };
            let (text, ()) = within_timeout(async { tokio::join!(read, speak) }).await;
            assert_eq!(text, sent);
            for node in nodes {
                let shown = node.get(PATH).await.json();
                assert_eq!(shown["entries"].as_array().unwrap().len(), 3, "{shown}");
                node.end().await;
            }
        });
    }
}

/// The text that a snapshot has of the answer.
fn snapshot_text(snapshot: &Value) -> String {
    let entries = snapshot["entries"].as_array().unwrap();
    let step = entries.iter().find_map(|entry| entry["what"]["step"]["step"]["items"].as_array());
    let items = step.into_iter().flatten();
    let text: String = items.filter_map(|item| item["text"].as_str()).collect();
    match text.is_empty() {
        true => snapshot["partial"]["text"].as_str().unwrap_or_default().to_owned(),
        false => text,
    }
}

fn is_over(snapshot: &Value) -> bool {
    snapshot["running"] == false && !snapshot["entries"].as_array().unwrap().is_empty()
}
