//! Who holds a conversation when its process has died.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::testing::FnModel;
use toolwright::chat::{Chat, ChatError, Lease, MemoryStore, Store as _};
use toolwright::{Invoker, Registry};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A store in which somebody who died holds a conversation.
async fn left_behind(holder: &str) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let lease = Lease::new("room", holder);
    assert!(store.lease(&lease, HOUR).await.unwrap());
    store
}

fn chat(store: &Arc<MemoryStore>, node: &str) -> Chat {
    let invoker = Invoker::new(Registry::new()).unwrap();
    let builder = Chat::builder(FnModel::echo(), &invoker);
    builder.store(Arc::clone(store)).node(node).build()
}

#[tokio::test(start_paused = true)]
async fn a_node_that_comes_back_takes_its_conversations_at_once() {
    let store = left_behind("one").await;
    let before = tokio::time::Instant::now();
    let ask = chat(&store, "one").prompt().conversation("room");
    assert_eq!(ask.user("Hi").call().await.unwrap().text(), "Hi");
    assert_eq!(before.elapsed(), Duration::ZERO, "nothing was waited for");
}

#[tokio::test(start_paused = true)]
async fn another_node_waits_and_is_refused_in_the_end() {
    let store = left_behind("one").await;
    let ask = chat(&store, "two").prompt().conversation("room");
    let refused = ask.user("Hi").call().await.unwrap_err();
    assert!(matches!(refused, ChatError::Busy { .. }), "{refused}");
}

#[tokio::test]
async fn a_lease_ends_after_the_life_it_was_given() {
    let store = Arc::new(MemoryStore::new());
    let invoker = Invoker::new(Registry::new()).unwrap();
    let builder = Chat::builder(FnModel::echo(), &invoker).store(Arc::clone(&store));
    // A lease that is over at once: what it should have allowed is refused.
    let chat = builder.lease_life(Duration::ZERO).build();
    let refused = chat.prompt().conversation("room").user("Hi").call().await;
    assert!(matches!(refused, Err(ChatError::Store(_))), "{refused:?}");
}
