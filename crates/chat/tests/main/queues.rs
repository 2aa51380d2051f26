//! Requests of one conversation, one after the other.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use toolwright::chat::{
    Chat, ChatError, ConversationSummary, Entry, EntryBody, Lease, MemoryStore, Owner, Store,
    StoreError,
};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{Content, Secret, Tool, ToolCall};

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
async fn requests_wait_in_the_order_they_came_and_one_too_many_is_refused() {
    let store = Arc::new(MemoryStore::new());
    let (chat, gate) = gated(&store);
    let ask = |n: usize| {
        let ask = chat.message().conversation("room");
        tokio::spawn(ask.user(n.to_string()).call())
    };
    let mut turns = Vec::new();
    // One runs, sixteen wait.
    for n in 0..17 {
        turns.push(ask(n));
        yield_now().await;
    }
    let refused = ask(17).await.unwrap().unwrap_err();
    assert!(matches!(refused, ChatError::Busy { .. }), "{refused:?}");
    let message = "the conversation is busy: 16 prompts wait for this conversation already";
    assert_eq!(refused.to_string(), message);
    // Other conversations do not mind.
    gate.add_permits(1);
    let elsewhere = chat.message().conversation("elsewhere").user("There?");
    // The first turn of the room may have taken that permit; one more is enough for both.
    gate.add_permits(1);
    assert_eq!(elsewhere.call().await.unwrap().text(), "Done.");
    gate.add_permits(20);
    for turn in turns {
        assert_eq!(turn.await.unwrap().unwrap().text(), "Done.");
    }
    let expected: Vec<String> = (0..17).map(|n| n.to_string()).collect();
    assert_eq!(questions(&store).await, expected);
}

#[tokio::test]
async fn a_request_that_is_dropped_frees_its_slot() {
    let store = Arc::new(MemoryStore::new());
    let (chat, gate) = gated(&store);
    let ask = |n: usize| chat.message().conversation("room").user(n.to_string()).call();
    let mut turns: Vec<_> = (0..17).map(|n| Box::pin(ask(n))).collect();
    for turn in &mut turns {
        assert!(turn.as_mut().now_or_never().is_none());
    }
    assert!(matches!(Box::pin(ask(17)).now_or_never(), Some(Err(ChatError::Busy { .. }))));
    drop(turns.remove(5));
    let mut late = Box::pin(ask(18));
    assert!(late.as_mut().now_or_never().is_none());
    turns.push(late);
    gate.add_permits(20);
    for turn in futures::future::join_all(turns).await {
        assert_eq!(turn.unwrap().text(), "Done.");
    }
    let asked = questions(&store).await;
    assert_eq!((asked.len(), asked[5].as_str(), asked[16].as_str()), (17, "6", "18"));
}

/// A store that is slow to release a lease.
#[derive(Default)]
struct Slow(MemoryStore);

impl Store for Slow {
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.0.acquire(lease, life)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            for _ in 0..10 {
                yield_now().await;
            }
            self.0.release(lease).await
        })
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            for _ in 0..10 {
                yield_now().await;
            }
            self.0.append(lease, entries).await
        })
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.0.tail(conversation, before, most)
    }

    fn list(&self, most: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>> {
        self.0.list(most)
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>> {
        self.0.list_by_owner(owner, most)
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.0.delete(lease)
    }

    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        self.0.signing_key()
    }
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
