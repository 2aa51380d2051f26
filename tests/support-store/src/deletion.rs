//! Deleted conversations.

use std::sync::Arc;

use toolwright::chat::{
    Append, Entry, EntryBody, ExpiredConversations, Lease, Store, TurnEnd, TurnStatus,
};

use crate::Backend;
use crate::fixtures::{acquire, append, ids, inbox_message, numbered_entries, user_entry};

pub async fn a_deleted_conversation_is_gone_and_others_stay(backend: &dyn Backend) {
    let store = backend.open().await;
    append(&store, "other", &numbered_entries(0, 3)).await;
    append(&store, "room", &numbered_entries(0, 3)).await;
    let room = acquire(&store, "room").await;
    assert!(store.delete(&room).await.unwrap());
    assert!(!store.delete(&room).await.unwrap(), "it is gone already");
    let store = backend.open().await;
    assert!(store.load("room").await.unwrap().is_empty());
    assert_eq!(store.load("other").await.unwrap().len(), 3);
    assert_eq!(store.list(9).await.unwrap().len(), 1);
    // A new conversation may have the ids of the deleted one.
    store.append(&room, Append::new(&numbered_entries(2, 2))).await.unwrap();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["2", "3"]);
    let listed = store.list(1).await.unwrap().remove(0);
    assert_eq!((listed.title.as_str(), listed.entries), ("entry 2", 2));
    assert_eq!((listed.began, listed.last), (2, 3));
}

pub async fn only_the_holder_of_its_lease_deletes_a_conversation(backend: &dyn Backend) {
    let store = backend.open().await;
    append(&store, "room", &numbered_entries(0, 3)).await;
    let other = Lease::new("room", "other", 1);
    store.delete(&other).await.unwrap_err();
    let room = acquire(&store, "room").await;
    let error = store.delete(&other).await.unwrap_err().to_string();
    assert!(error.contains("in the hands of another"), "{error}");
    assert_eq!(store.load("room").await.unwrap().len(), 3);
    assert!(store.delete(&room).await.unwrap());
}

/// A message and the end of its turn.
fn ended_turn(at: u64) -> [Entry; 2] {
    let end = EntryBody::TurnEnded { end: TurnEnd::Answered };
    [user_entry("a", at, "Hi"), Entry::new("b", at, end)]
}

/// Deletes what is older than 10; returns the names.
async fn expire(store: &Arc<dyn Store>) -> Vec<String> {
    let mut expired = ExpiredConversations::new(Arc::clone(store), "retention", 10);
    let mut names = Vec::new();
    loop {
        let batch = expired.delete_batch().await.unwrap();
        if batch.is_empty() {
            return names;
        }
        names.extend(batch.into_iter().map(|summary| summary.conversation));
    }
}

pub async fn only_old_conversations_without_open_work_expire(backend: &dyn Backend) {
    let store = backend.open().await;
    for (name, at) in [("old", 9), ("older", 3), ("new", 10), ("waiting", 1), ("held", 1)] {
        append(&store, name, &ended_turn(at)).await;
    }
    append(&store, "running", &ended_turn(1)[..1]).await;
    let paused = acquire(&store, "paused").await;
    let message = &ended_turn(1)[..1];
    store.append(&paused, Append::new(message).turn(TurnStatus::Paused)).await.unwrap();
    store.release(&paused).await.unwrap();
    store.push_inbox("waiting", &inbox_message("m", "Hi"), 9).await.unwrap().unwrap();
    let held = acquire(&store, "held").await;
    assert_eq!(expire(&store).await, ["older", "old"]);
    store.release(&held).await.unwrap();
    assert_eq!(expire(&store).await, ["held"]);
    assert_eq!(store.list(9).await.unwrap().len(), 4);
    assert_eq!(store.inbox("waiting").await.unwrap().len(), 1);
    store.delete_expired(&held, 10).await.unwrap_err();
}

pub async fn conversations_that_stay_do_not_hide_those_that_expire(backend: &dyn Backend) {
    let store = backend.open().await;
    for number in 0..300 {
        append(&store, &format!("running {number}"), &ended_turn(1)[..1]).await;
    }
    append(&store, "old", &ended_turn(9)).await;
    assert_eq!(expire(&store).await, ["old"]);
}
