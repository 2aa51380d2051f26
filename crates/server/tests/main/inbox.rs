//! What is accepted is in the inbox: it outlives the process, and is attended to without being asked for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::chat::{
    Entry, EntryBody, InboxBody, InboxItem, MemoryStore, MessagePart, Store, TurnEnd,
};
use toolwright::testing::FnModel;
use toolwright_server::{Endpoint, ServerBuilder, Session};

use crate::approvals::{PATH, Payments, paying_model, payment_tool};
use crate::restart::kept;
use crate::support::{
    ManualModel, TestServer, find_event, invoker, joined_text, no_tools, serve, within_timeout,
};

/// The name of the conversation at [`PATH`] in the store.
fn conversation() -> &'static str {
    PATH.rsplit('/').next().unwrap()
}

/// A server whose model never answers, with a first turn that runs and more messages behind it.
async fn busy_server(store: &Arc<MemoryStore>, messages: &[&str]) -> TestServer {
    let (model, sender) = ManualModel::new();
    // The model waits as long as its sender exists.
    std::mem::forget(sender);
    let server = ServerBuilder::new(no_tools(), model)
        .limits(|limits| limits.shutdown_grace = Duration::ZERO);
    let server = serve(kept(server, store)).await;
    for message in messages {
        server.post_message(PATH, message).await;
    }
    server
}

/// Waits until the journal and the inbox are as expected.
async fn settled(store: &MemoryStore, is_settled: impl Fn(&[Entry], &[InboxItem]) -> bool) {
    within_timeout(async {
        loop {
            let entries = store.load(conversation()).await.unwrap();
            let inbox = store.inbox(conversation()).await.unwrap();
            if is_settled(&entries, &inbox) {
                return;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
}

fn texts(entries: &[Entry]) -> Vec<String> {
    let contents = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::User { content } => Some(content),
        _ => None,
    });
    contents.map(|content| format!("{content:?}")).collect()
}

fn ends(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry.body, EntryBody::TurnEnded { .. })).count()
}

#[tokio::test]
async fn messages_that_wait_when_the_process_ends_are_answered_in_order_by_the_next_one() {
    let store = Arc::<MemoryStore>::default();
    let messages: Vec<String> = (0..8).map(|n| format!("message {n}")).collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let server = busy_server(&store, &messages).await;
    server.end().await;
    let _server = serve(kept(ServerBuilder::new(no_tools(), FnModel::echo()), &store)).await;
    // Nobody opens the conversation.
    settled(&store, |entries, inbox| inbox.is_empty() && ends(entries) == 8).await;
    let entries = store.load(conversation()).await.unwrap();
    for (text, message) in texts(&entries).iter().zip(&messages) {
        assert!(text.contains(message), "{text} is not {message}");
    }
    assert_eq!(texts(&entries).len(), 8);
}

#[tokio::test]
async fn a_message_is_stored_before_it_is_accepted_and_no_more_than_the_limit() {
    let store = Arc::<MemoryStore>::default();
    let server = busy_server(&store, &["first"]).await;
    // The first one is in the journal.
    settled(&store, |entries, inbox| entries.len() == 1 && inbox.is_empty()).await;
    for n in 0..16 {
        server.post_message(PATH, &format!("message {n}")).await;
        assert_eq!(store.inbox(conversation()).await.unwrap().len(), n + 1);
    }
    let refused = server.post(&format!("{PATH}/prompt"), json!({ "text": "one too many" })).await;
    assert_eq!(refused.status, 429, "{refused:?}");
    let shown = server.get(PATH).await.json();
    assert_eq!(shown["queued"].as_array().unwrap().len(), 16);
    assert_eq!(store.inbox(conversation()).await.unwrap().len(), 16);
}

#[tokio::test]
async fn a_stop_that_was_accepted_ends_the_turn_even_if_the_process_does_not_live_to_do_it() {
    let store = Arc::<MemoryStore>::default();
    let server = busy_server(&store, &["Go."]).await;
    settled(&store, |entries, _| entries.len() == 1).await;
    server.end().await;
    let stop = InboxItem::new("stop", 1, InboxBody::Stop);
    store.push_inbox(conversation(), &stop, 9).await.unwrap().unwrap();
    let message = |text: &str| {
        let content = vec![toolwright::Content::text(text)];
        let parts = vec![MessagePart { role: toolwright::Role::User, content }];
        let body = InboxBody::Message { parts, model: None, after: None, client_tools: Vec::new() };
        InboxItem::new(text, 1, body)
    };
    store.push_inbox(conversation(), &message("next"), 9).await.unwrap().unwrap();
    let _server = serve(kept(ServerBuilder::new(no_tools(), FnModel::echo()), &store)).await;
    settled(&store, |entries, inbox| inbox.is_empty() && ends(entries) == 2).await;
    let entries = store.load(conversation()).await.unwrap();
    let ends: Vec<&TurnEnd> = entries
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::TurnEnded { end } => Some(end),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [&TurnEnd::Cancelled, &TurnEnd::Answered]);
}

#[tokio::test]
async fn a_stop_that_is_stored_again_does_not_end_the_next_turn() {
    let store = Arc::<MemoryStore>::default();
    let server = busy_server(&store, &["First"]).await;
    settled(&store, |entries, _| entries.len() == 1).await;
    assert_eq!(server.post(&format!("{PATH}/stop"), json!({})).await.json()["stopped"], true);
    settled(&store, |entries, inbox| ends(entries) == 1 && inbox.is_empty()).await;
    let first = store.load(conversation()).await.unwrap()[0].id.clone();
    server.post_message(PATH, "Second").await;
    settled(&store, |entries, _| entries.len() == 4).await;
    server.end().await;
    // Its acknowledgement was lost, and the store adds it again.
    let stop = InboxItem::stop(&first, 1);
    store.push_inbox(conversation(), &stop, 9).await.unwrap().unwrap();
    let _server = serve(kept(ServerBuilder::new(no_tools(), FnModel::echo()), &store)).await;
    settled(&store, |entries, inbox| inbox.is_empty() && ends(entries) == 2).await;
    let last = store.load(conversation()).await.unwrap().pop().unwrap();
    assert!(matches!(last.body, EntryBody::TurnEnded { end: TurnEnd::Answered }), "{last:?}");
}

#[tokio::test]
async fn a_stop_that_another_process_accepts_ends_the_turn_without_a_bus() {
    let store = Arc::new(MemoryStore::new());
    let _holder = busy_server(&store, &["Go."]).await;
    settled(&store, |entries, inbox| entries.len() == 1 && inbox.is_empty()).await;
    let other = kept(ServerBuilder::new(no_tools(), FnModel::echo()), &store);
    let other = serve(other.node_name("two")).await;
    let stopped = other.post(&format!("{PATH}/stop"), json!({})).await;
    assert_eq!((stopped.status, &stopped.json()["stopped"]), (202, &json!(true)));
    // The model never answers: only the stop ends the turn.
    let is_cancelled =
        |entry: &Entry| matches!(entry.body, EntryBody::TurnEnded { end: TurnEnd::Cancelled });
    settled(&store, |entries, inbox| entries.last().is_some_and(is_cancelled) && inbox.is_empty())
        .await;
}

#[tokio::test]
async fn a_decision_that_came_while_no_process_ran_is_carried_out_by_the_next_one() {
    let store = Arc::<MemoryStore>::default();
    let paid = Payments::default();
    let before =
        serve(kept(ServerBuilder::new(invoker(payment_tool(&paid)), paying_model()), &store)).await;
    let asked = before.post_and_collect(PATH, "Pay Bob.").await;
    let asked = find_event(&asked, "asked");
    before.end().await;
    let response: Value = json!({ "call": asked["call"]["id"], "token": asked["token"], "verdict": { "verdict": "approve" } });
    let responses = vec![serde_json::from_value(response).unwrap()];
    let decision = InboxItem::new("decision", 1, InboxBody::Decisions { responses });
    for _ in 0..2 {
        // Added twice, it is one decision.
        store.push_inbox(conversation(), &decision, 9).await.unwrap().unwrap();
    }
    let server = ServerBuilder::new(invoker(payment_tool(&paid)), FnModel::new(|_| "Paid."));
    let _server = serve(kept(server, &store)).await;
    settled(&store, |entries, inbox| inbox.is_empty() && ends(entries) == 1).await;
    assert_eq!(*paid.lock().unwrap(), [100]);
    assert_eq!(store.push_inbox(conversation(), &decision, 9).await.unwrap(), Some(0));
}

#[tokio::test]
async fn messages_of_a_paused_turn_wait_unless_one_is_sent_during_the_pause() {
    let store = Arc::<MemoryStore>::default();
    let paid = Payments::default();
    let server = ServerBuilder::new(invoker(payment_tool(&paid)), paying_model());
    let server = serve(kept(server, &store)).await;
    server.post_and_collect(PATH, "Pay Bob.").await;
    let after = server.post_message(PATH, "Never mind.").await;
    let mut events = server.events(PATH, Some(after)).await;
    let abandoned = events.collect_turn().await;
    assert_eq!(find_event(&abandoned, "ended")["end"], "cancelled", "{abandoned:?}");
    let events = events.collect_turn().await;
    assert_eq!(find_event(&events, "ended")["end"], "answered", "{events:?}");
    assert!(paid.lock().unwrap().is_empty());
    assert!(!joined_text(&events).is_empty());
}

#[tokio::test]
async fn an_endpoint_without_memory_says_that_it_keeps_nothing() {
    let server =
        ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(Endpoint::new("/scratch"));
    let server = serve(server).await;
    let accepted = server.post("/scratch/a/prompt", json!({ "text": "Hi" })).await.json();
    assert_eq!(accepted["kept"], false, "{accepted}");
    let accepted = server.post(&format!("{PATH}/prompt"), json!({ "text": "Hi" })).await.json();
    assert_eq!(accepted["kept"], Value::Null, "{accepted}");
}

#[tokio::test]
async fn a_handler_outside_of_a_turn_waits_for_the_turn_that_runs() {
    let store = Arc::<MemoryStore>::default();
    let (model, sender) = ManualModel::new();
    let greets = |session: Session| async move { session.answer_with_model("Greet!").await };
    let endpoint = Endpoint::new("/desk/{name}").memory(true).on_ready(greets);
    let server = kept(ServerBuilder::new(no_tools(), model).endpoint(endpoint), &store);
    let server = serve(server).await;
    server.post_message("/desk/a", "Hi").await;
    let load = async || store.load("/desk/a").await.unwrap();
    within_timeout(async {
        while load().await.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let _events = server.events("/desk/a", None).await;
    for text in ["Hello.", "", "Welcome.", ""] {
        sender.send(text.to_owned()).unwrap();
    }
    within_timeout(async {
        while ends(&load().await) < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let entries = load().await;
    assert_eq!(texts(&entries).len(), 2, "{entries:?}");
    assert!(texts(&entries)[0].contains("Hi") && texts(&entries)[1].contains("Greet!"));
}
