//! A new process with the same store resumes the conversations of the old one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright::Content;
use toolwright::chat::{Append, Entry, EntryBody, MemoryStore, Store};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright_server::ServerBuilder;

use crate::approvals::{PATH, Payments, paying_model, payment_tool};
use crate::support::{
    ManualModel, TestServer, event_type, find_event, invoker, joined_text, no_tools, serve,
    stored_answer,
};

pub(crate) fn kept(server: ServerBuilder, store: &Arc<MemoryStore>) -> ServerBuilder {
    // Restarted under the same name, a node takes its conversations back at once.
    server.store(Arc::clone(store) as Arc<dyn Store>, "memory").node_name("one")
}

#[tokio::test]
async fn a_subscriber_from_before_the_restart_receives_a_snapshot_and_then_events() {
    let store = Arc::<MemoryStore>::default();
    let before = serve(kept(ServerBuilder::new(no_tools(), FnModel::echo()), &store)).await;
    let mut events = before.events(PATH, None).await;
    before.post_message(PATH, "Hi").await;
    let last = events.read_until("ended").await["seq"].as_u64();
    before.end().await;
    let after = serve(kept(ServerBuilder::new(no_tools(), FnModel::echo()), &store)).await;
    let mut events = after.events(PATH, last).await;
    let first = events.next().await.unwrap();
    assert_eq!(first["event"]["type"], "snapshot");
    assert_eq!(first["event"]["entries"].as_array().unwrap().len(), 3);
    assert!(first["seq"].as_u64() > last);
    after.post_message(PATH, "Again").await;
    assert_eq!(joined_text(&events.collect_turn().await), "Again");
}

#[tokio::test]
async fn a_node_that_is_killed_and_restarted_takes_its_conversations_back_without_being_asked() {
    let store = Arc::<MemoryStore>::default();
    // A process that was killed: its turn is open, and its lease lasts for an hour.
    let lease = store.acquire("left", "one", Duration::from_secs(3600)).await.unwrap().unwrap();
    let content = vec![Content::text("Hi")];
    let entries = [Entry::new("a", 1, EntryBody::User { content })];
    store.append(&lease, Append::new(&entries)).await.unwrap();
    assert!(store.list_unattended(9).await.unwrap().is_empty());
    let _server = serve(kept(ServerBuilder::new(no_tools(), FnModel::echo()), &store)).await;
    assert_eq!(stored_answer(&*store, "left").await, "Hi");
}

/// Begins an answer that never ends, in a process that is gone afterwards.
async fn interrupted(store: &Arc<MemoryStore>) {
    let (model, strings) = ManualModel::new();
    let server = ServerBuilder::new(no_tools(), model).limits(|limits| {
        limits.shutdown_grace = std::time::Duration::ZERO;
    });
    let server = kept(server, store).mount_all().build().unwrap();
    let running: TestServer = crate::support::serve_built(server).await;
    let after = running.post_message(PATH, "Go.").await;
    strings.send("Half".to_owned()).unwrap();
    running.events(PATH, Some(after)).await.read_until("text").await;
    running.end().await;
}

#[tokio::test]
async fn an_interrupted_turn_resumes_without_being_asked_for() {
    let store = Arc::<MemoryStore>::default();
    interrupted(&store).await;
    let model = ScriptedModel::new().replies("A whole answer.");
    let server = serve(kept(ServerBuilder::new(no_tools(), model), &store)).await;
    assert_eq!(stored_answer(&*store, "till").await, "A whole answer.");
    let shown = server.get(PATH).await.json();
    assert_eq!(shown["entries"].as_array().unwrap().len(), 3);
    assert_eq!(shown["running"], false);
}

#[tokio::test]
async fn a_call_that_waited_still_waits_and_can_be_decided() {
    let store = Arc::<MemoryStore>::default();
    let paid = Payments::default();
    let before =
        serve(kept(ServerBuilder::new(invoker(payment_tool(&paid)), paying_model()), &store)).await;
    before.post_and_collect(PATH, "Pay Bob.").await;
    before.end().await;
    let model = ScriptedModel::new().replies("Bob has his money.");
    let server = serve(kept(ServerBuilder::new(invoker(payment_tool(&paid)), model), &store)).await;
    let mut events = server.events(PATH, None).await;
    let asked = events.collect_turn().await;
    let asked = match event_type(&asked[0]) {
        // The approval may have been requested again before the snapshot was taken.
        "snapshot" if asked[0]["pending"].as_array().is_some_and(|it| !it.is_empty()) => {
            asked[0]["pending"][0].clone()
        }
        _ => find_event(&asked, "asked").clone(),
    };
    let decision =
        json!({ "call": asked["call"]["id"], "token": asked["token"], "verdict": "approve" });
    let decided = server.post(&format!("{PATH}/decide"), decision).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    assert_eq!(joined_text(&events.collect_turn().await), "Bob has his money.");
    assert_eq!(*paid.lock().unwrap(), [100]);
}

#[tokio::test]
async fn the_first_look_after_a_restart_shows_the_call_that_waits() {
    for _ in 0..20 {
        let store = Arc::<MemoryStore>::default();
        let paid = Payments::default();
        let before =
            serve(kept(ServerBuilder::new(invoker(payment_tool(&paid)), paying_model()), &store))
                .await;
        before.post_and_collect(PATH, "Pay Bob.").await;
        before.end().await;
        let model = ScriptedModel::new().replies("Bob has his money.");
        let server =
            serve(kept(ServerBuilder::new(invoker(payment_tool(&paid)), model), &store)).await;
        let looks = (0..4).map(|_| server.get(PATH));
        let stale = json!({ "call": "x", "token": { "id": "", "digest": "", "expires": 0, "signature": "" }, "verdict": "approve" });
        let decide = format!("{PATH}/decide");
        let (looks, refused) =
            tokio::join!(futures::future::join_all(looks), server.post(&decide, stale));
        assert_eq!(refused.status, 409, "{refused:?}");
        for shown in looks {
            let shown = shown.json();
            assert_eq!(shown["pending"].as_array().unwrap().len(), 1, "{shown}");
        }
    }
}

#[tokio::test]
async fn a_turn_that_an_earlier_process_left_can_be_stopped_at_once() {
    let store = Arc::<MemoryStore>::default();
    interrupted(&store).await;
    // The model never answers.
    let (model, _sender) = ManualModel::new();
    let server = serve(kept(ServerBuilder::new(no_tools(), model), &store)).await;
    let stopped = server.post(&format!("{PATH}/stop"), json!({})).await;
    assert_eq!(stopped.json(), json!({ "stopped": true }));
    let mut events = server.events(PATH, None).await;
    let mut last = events.next().await.unwrap();
    while last["event"]["type"] != "ended"
        && last["event"]["entries"].as_array().is_none_or(|it| it.len() < 2)
    {
        last = events.next().await.unwrap();
    }
    let kept = store.load("till").await.unwrap();
    let end = serde_json::to_value(&kept.last().unwrap().body).unwrap();
    assert_eq!(end, json!({ "ended": { "end": { "end": "cancelled" } } }));
}
