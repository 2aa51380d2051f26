//! Conversations that have work and no holder.

use std::time::Duration;

use toolwright::chat::{Append, InboxBody, InboxItem, Store, TurnStatus};

use crate::Backend;
use crate::fixtures::{acquire, inbox_message, numbered_entries};

async fn unattended(store: &dyn Store) -> Vec<String> {
    let mut names = store.list_unattended(99).await.unwrap();
    names.sort_unstable();
    names
}

/// Appends an entry after which the turn has this status; releases the lease.
async fn append_with_turn(store: &dyn Store, conversation: &str, turn: TurnStatus) {
    let lease = acquire(store, conversation).await;
    store.append(&lease, Append::new(&numbered_entries(0, 1)).turn(turn)).await.unwrap();
    store.release(&lease).await.unwrap();
}

pub async fn a_running_turn_without_a_holder_is_unattended(backend: &dyn Backend) {
    let store = backend.open().await;
    for (name, turn) in [
        ("over", TurnStatus::Over),
        ("paused", TurnStatus::Paused),
        ("running 1", TurnStatus::Running),
        ("running 2", TurnStatus::Running),
    ] {
        append_with_turn(&store, name, turn).await;
    }
    assert_eq!(unattended(&store).await, ["running 1", "running 2"]);
    assert_eq!(store.list_unattended(1).await.unwrap().len(), 1);
    assert!(store.list_unattended(0).await.unwrap().is_empty());
    let lease = acquire(&store, "running 1").await;
    assert_eq!(unattended(&backend.open().await).await, ["running 2"]);
    store
        .append(&lease, Append::new(&numbered_entries(1, 1)).turn(TurnStatus::Over))
        .await
        .unwrap();
    store.release(&lease).await.unwrap();
    assert_eq!(unattended(&store).await, ["running 2"]);
}

pub async fn an_inbox_without_a_holder_is_unattended(backend: &dyn Backend) {
    let store = backend.open().await;
    let push = async |name: &str, item: &InboxItem| {
        store.push_inbox(name, item, 9).await.unwrap().unwrap()
    };
    let early = push("new", &inbox_message("a", "")).await;
    append_with_turn(&store, "over", TurnStatus::Over).await;
    push("over", &inbox_message("a", "")).await;
    for name in ["paused 1", "paused 2", "paused 3"] {
        // Sent while the turn ran: it waits for the end of the turn.
        push(name, &inbox_message("a", "")).await;
        append_with_turn(&store, name, TurnStatus::Paused).await;
    }
    assert_eq!(unattended(&store).await, ["new", "over"]);
    push("paused 2", &InboxItem::new("b", 1, InboxBody::Stop)).await;
    push("paused 3", &inbox_message("b", "")).await;
    assert_eq!(unattended(&store).await, ["new", "over", "paused 2", "paused 3"]);
    let lease = acquire(&store, "new").await;
    assert_eq!(unattended(&backend.open().await).await, ["over", "paused 2", "paused 3"]);
    store.append(&lease, Append::new(&[]).taking(&[early])).await.unwrap();
    store.release(&lease).await.unwrap();
    assert_eq!(unattended(&store).await, ["over", "paused 2", "paused 3"]);
}

pub async fn an_expired_lease_leaves_its_conversation_unattended(backend: &dyn Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let lease = store.acquire("room", "me", Duration::from_millis(1)).await.unwrap().unwrap();
    store.append(&lease, Append::new(&numbered_entries(0, 1))).await.unwrap();
    while unattended(&again).await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(store.renew(&lease, Duration::from_secs(600)).await.unwrap());
    assert!(unattended(&again).await.is_empty());
}

pub async fn what_a_holder_has_left_is_found_under_its_name(backend: &dyn Backend) {
    let store = backend.open().await;
    let hold = async |name: &str, holder: &str, turn: TurnStatus| {
        let lease = store.acquire(name, holder, Duration::from_secs(600)).await.unwrap().unwrap();
        store.append(&lease, Append::new(&numbered_entries(0, 1)).turn(turn)).await.unwrap();
    };
    hold("running", "me", TurnStatus::Running).await;
    hold("over", "me", TurnStatus::Over).await;
    hold("waiting", "me", TurnStatus::Over).await;
    hold("other", "you", TurnStatus::Running).await;
    store.push_inbox("waiting", &inbox_message("a", ""), 9).await.unwrap().unwrap();
    let mut held = store.list_held_by("me", 9).await.unwrap();
    held.sort_unstable();
    assert_eq!(held, ["running", "waiting"]);
    assert_eq!(store.list_held_by("me", 1).await.unwrap().len(), 1);
    assert!(store.list_held_by("nobody", 9).await.unwrap().is_empty());
}
