//! Requests of one conversation, one after the other.

use std::sync::Arc;

use futures::FutureExt as _;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use toolwright::chat::{
    Append, Chat, EntryBody, Lease, MemoryStore, Store, StoreFuture, delegate_store,
};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{Content, Tool, ToolCall};

use crate::support::{builder, none};

/// A chat whose every turn waits until the test releases it.
fn gated(store: &Arc<MemoryStore>) -> (Chat, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let waits = Arc::clone(&gate);
    let wait = Tool::builder("wait", "Waits.").run_async(move |_, _| {
        let gate = Arc::clone(&waits);
        async move { gate.acquire().await.unwrap().forget() }
    });
    let model = FnModel::new(|request| match request.messages.last() {
        Some(toolwright::chat::Message::User(_)) => ModelReply::call(ToolCall::new("wait", "{}")),
        _ => ModelReply::text("Done."),
    });
    let chat = builder(model, wait.unwrap()).store(Arc::clone(store));
    (chat.build(), gate)
}

/// The user messages, in the order of the journal.
async fn questions(store: &MemoryStore) -> Vec<String> {
    let entries = store.load("room").await.unwrap();
    let messages = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::User { content } => match &content[0] {
            Content::Text { text } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    messages.collect()
}

#[tokio::test]
async fn requests_wait_in_the_order_they_came_however_many() {
    let store = Arc::new(MemoryStore::new());
    let (chat, gate) = gated(&store);
    let mut turns = Vec::new();
    for n in 0..40 {
        let ask = chat.message().conversation("room");
        turns.push(tokio::spawn(ask.user(n.to_string()).call()));
        yield_now().await;
    }
    // Other conversations do not mind.
    gate.add_permits(1);
    let elsewhere = chat.message().conversation("elsewhere").user("There?");
    // The first turn of the room may have taken that permit; one more is enough for both.
    gate.add_permits(1);
    assert_eq!(elsewhere.call().await.unwrap().text(), "Done.");
    gate.add_permits(40);
    for turn in turns {
        assert_eq!(turn.await.unwrap().unwrap().text(), "Done.");
    }
    let expected: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(questions(&store).await, expected);
}

#[tokio::test]
async fn a_request_that_is_dropped_while_it_waits_changes_nothing() {
    let store = Arc::new(MemoryStore::new());
    let (chat, gate) = gated(&store);
    let ask = |n: usize| chat.message().conversation("room").user(n.to_string()).call();
    let mut turns: Vec<_> = (0..5).map(|n| Box::pin(ask(n))).collect();
    for turn in &mut turns {
        assert!(turn.as_mut().now_or_never().is_none());
    }
    drop(turns.remove(2));
    gate.add_permits(4);
    for turn in futures::future::join_all(turns).await {
        assert_eq!(turn.unwrap().text(), "Done.");
    }
    assert_eq!(questions(&store).await, ["0", "1", "3", "4"]);
}

/// A store that is slow to append, and to release a lease.
#[derive(Default)]
struct Slow(MemoryStore);

impl Store for Slow {
    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            for _ in 0..10 {
                yield_now().await;
            }
            self.0.release(lease).await
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            for _ in 0..10 {
                yield_now().await;
            }
            self.0.append(lease, append).await
        })
    }

    delegate_store!(|self| self.0 =>
        scope acquire renew lease_status push_inbox inbox remove_inbox_item list_unattended tail list list_by_owner
        list_older_than delete delete_expired shared_state signing_keys rotate_signing_key check_writable);
}

#[tokio::test]
async fn a_turn_that_was_dropped_does_not_take_the_lease_of_the_next_one() {
    for polls in 0..30 {
        let model = ScriptedModel::new().replies("One.").replies("Two.");
        let chat = builder(model, none()).store(Slow::default()).build();
        let ask = || chat.message().conversation("room").user("Go!").call();
        let mut dropped = Box::pin(ask());
        for _ in 0..polls {
            if dropped.as_mut().now_or_never().is_some() {
                break;
            }
            yield_now().await;
        }
        drop(dropped);
        let next = ask().await;
        assert!(next.is_ok(), "after {polls} polls: {next:?}");
    }
}
