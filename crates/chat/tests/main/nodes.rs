//! Who holds a conversation when its process has died.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use toolwright::chat::testing::{FnModel, Reply};
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

/// A model whose every answer is said after another node has tried to take the conversation.
fn rivalled(store: &Arc<MemoryStore>) -> FnModel {
    let store = Arc::clone(store);
    FnModel::new(move |_| {
        let rival = Lease::new("room", "rival");
        let taken = store.lease(&rival, HOUR).now_or_never();
        Reply::text(format!("{}", taken.unwrap().unwrap()))
    })
}

#[tokio::test]
async fn a_turn_goes_on_as_long_as_no_other_has_taken_its_lease() {
    let store = Arc::new(MemoryStore::new());
    let invoker = Invoker::new(Registry::new()).unwrap();
    // Over at once, every time that it is written.
    let builder = Chat::builder(FnModel::echo(), &invoker).store(Arc::clone(&store));
    let chat = builder.lease_life(Duration::ZERO).build();
    let answer = chat.prompt().conversation("room").user("Hi").call().await;
    assert_eq!(answer.unwrap().text(), "Hi");
}

#[tokio::test]
async fn a_lease_ends_after_the_life_it_was_given() {
    let store = Arc::new(MemoryStore::new());
    let invoker = Invoker::new(Registry::new()).unwrap();
    let answer = async |life| {
        let builder = Chat::builder(rivalled(&store), &invoker).store(Arc::clone(&store));
        let chat = builder.lease_life(life).build();
        chat.prompt().conversation("room").user("Hi").call().await
    };
    assert_eq!(answer(HOUR).await.unwrap().text(), "false");
    let refused = answer(Duration::ZERO).await.unwrap_err();
    assert!(matches!(refused, ChatError::Store(_)), "{refused:?}");
    assert!(refused.to_string().contains("in the hands of another"));
}
