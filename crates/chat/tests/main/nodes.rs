//! The lease of a conversation when its process has died.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::Semaphore;
use toolwright::chat::{Append, Chat, ChatError, MemoryStore, Store as _};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{Invoker, Registry, Tool};

use crate::support::builder;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A store in which a process that died holds the lease of a conversation.
async fn store_with_lease(holder: &str) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    store.acquire("room", holder, HOUR).await.unwrap().unwrap();
    store
}

fn chat(store: &Arc<MemoryStore>, node: &str) -> Chat {
    let invoker = Invoker::new(Registry::new()).unwrap();
    let builder = Chat::builder(&invoker, FnModel::echo());
    builder.store(Arc::clone(store)).node(node).build()
}

#[tokio::test(start_paused = true)]
async fn a_node_that_comes_back_takes_its_conversations_at_once() {
    let store = store_with_lease("one").await;
    let before = tokio::time::Instant::now();
    let request = chat(&store, "one").message().conversation("room");
    assert_eq!(request.user("Hi").call().await.unwrap().text(), "Hi");
    assert_eq!(before.elapsed(), Duration::ZERO, "nothing was waited for");
}

#[tokio::test(start_paused = true)]
async fn another_node_waits_and_is_refused_in_the_end() {
    let store = store_with_lease("one").await;
    let request = chat(&store, "two").message().conversation("room");
    let refused = request.user("Hi").call().await.unwrap_err();
    assert!(matches!(refused, ChatError::Busy { .. }), "{refused}");
}

#[tokio::test]
async fn a_lease_is_not_valid_any_more_once_its_holder_has_acquired_it_again() {
    let store = MemoryStore::new();
    let old = store.acquire("room", "one", HOUR).await.unwrap().unwrap();
    let new = store.acquire("room", "one", HOUR).await.unwrap().unwrap();
    assert!(new.term > old.term);
    assert!(store.append(&old, Append::new(&[])).await.is_err());
    assert!(store.delete(&old).await.is_err());
    assert!(!store.renew(&old, HOUR).await.unwrap());
    store.release(&old).await.unwrap();
    assert!(store.acquire("room", "two", HOUR).await.unwrap().is_none(), "the new one is held");
    store.append(&new, Append::new(&[])).await.unwrap();
    assert!(store.renew(&new, HOUR).await.unwrap());
    store.release(&new).await.unwrap();
    let next = store.acquire("room", "two", HOUR).await.unwrap().unwrap();
    assert!(next.term > new.term);
}

#[tokio::test]
async fn a_process_that_is_restarted_under_the_same_name_fences_the_old_one() {
    let store = Arc::new(MemoryStore::new());
    let gate = Arc::new(Semaphore::new(0));
    let waits = Arc::clone(&gate);
    let wait = Tool::builder("wait", "Waits.").run_async(move |_, _| {
        let gate = Arc::clone(&waits);
        async move { gate.acquire().await.unwrap().forget() }
    });
    let builder = builder(ScriptedModel::new().calls("wait", "{}"), wait.unwrap());
    let old = builder.store(Arc::clone(&store)).node("one").build();
    let mut turn = Box::pin(old.message().conversation("room").user("Wait!").call());
    assert!(turn.as_mut().now_or_never().is_none());
    let restarted = chat(&store, "one").message().conversation("room");
    assert_eq!(restarted.user("Hi").call().await.unwrap().text(), "Hi");
    let before = store.load("room").await.unwrap().len();
    gate.add_permits(1);
    let refused = turn.await.unwrap_err();
    assert!(matches!(refused, ChatError::Store(_)), "{refused:?}");
    assert!(refused.to_string().contains("in the hands of another"));
    assert_eq!(store.load("room").await.unwrap().len(), before);
}

/// A model that replies after another node has tried to acquire the lease.
fn model_with_rival(store: &Arc<MemoryStore>) -> FnModel {
    let store = Arc::clone(store);
    FnModel::new(move |_| {
        let taken = store.acquire("room", "rival", HOUR).now_or_never();
        ModelReply::text(taken.unwrap().unwrap().is_some().to_string())
    })
}

#[tokio::test]
async fn a_turn_goes_on_as_long_as_no_other_has_taken_its_lease() {
    let store = Arc::new(MemoryStore::new());
    let invoker = Invoker::new(Registry::new()).unwrap();
    // Over at once, every time that it is written.
    let builder = Chat::builder(&invoker, FnModel::echo()).store(Arc::clone(&store));
    let chat = builder.lease_duration(Duration::ZERO).build();
    let answer = chat.message().conversation("room").user("Hi").call().await;
    assert_eq!(answer.unwrap().text(), "Hi");
}

#[tokio::test]
async fn a_lease_ends_after_the_life_it_was_given() {
    let store = Arc::new(MemoryStore::new());
    let invoker = Invoker::new(Registry::new()).unwrap();
    let answer = async |life| {
        let builder = Chat::builder(&invoker, model_with_rival(&store)).store(Arc::clone(&store));
        let chat = builder.lease_duration(life).build();
        chat.message().conversation("room").user("Hi").call().await
    };
    assert_eq!(answer(HOUR).await.unwrap().text(), "false");
    let refused = answer(Duration::ZERO).await.unwrap_err();
    assert!(matches!(refused, ChatError::Store(_)), "{refused:?}");
    assert!(refused.to_string().contains("in the hands of another"));
}
