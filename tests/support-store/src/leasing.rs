//! One holder at a time has the lease of a conversation, until it releases it or stops renewing it.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{Append, Lease, Store};

use crate::Backend;
use crate::fixtures::{LONG, acquire, acquire_as, append, ids, inbox_message, user_entry};

/// So short that the lease has expired at the next attempt.
const SHORT: Duration = Duration::from_millis(1);

/// Retries until the lease of another holder has expired.
async fn acquire_expired(store: &dyn Store, holder: &str) -> Lease {
    loop {
        if let Some(lease) = acquire_as(store, "room", holder).await {
            return lease;
        }
        tokio::task::yield_now().await;
    }
}

pub async fn a_lease_is_acquired_once_and_renewed_by_its_holder(backend: &dyn Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let room = acquire(&store, "room").await;
    for _ in 0..2 {
        assert!(acquire_as(&again, "room", "you").await.is_none());
        assert!(again.renew(&room, Duration::MAX).await.unwrap());
    }
    assert!(acquire_as(&again, "other room", "you").await.is_some());
    let unknown = Lease::new("unknown", "me", 1);
    assert!(!again.renew(&unknown, LONG).await.unwrap());
}

pub async fn a_lease_that_is_not_renewed_expires(backend: &dyn Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let room = store.acquire("room", "me", SHORT).await.unwrap().unwrap();
    acquire_expired(&again, "you").await;
    assert!(!store.renew(&room, LONG).await.unwrap());
    assert!(acquire_as(&store, "room", "me").await.is_none());
}

pub async fn a_released_lease_is_free(backend: &dyn Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let room = acquire(&store, "room").await;
    // Only its holder releases a lease.
    again.release(&Lease::new("room", "you", room.term)).await.unwrap();
    assert!(acquire_as(&again, "room", "you").await.is_none());
    store.append(&room, Append::new(&[user_entry("a", 1, "")])).await.unwrap();
    store.release(&room).await.unwrap();
    store.release(&room).await.unwrap();
    let yours = acquire_as(&again, "room", "you").await.unwrap();
    store.release(&room).await.unwrap();
    again.append(&yours, Append::new(&[user_entry("b", 1, "")])).await.unwrap();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a", "b"]);
}

pub async fn a_holder_that_lost_its_lease_appends_nothing(backend: &dyn Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let entries = [user_entry("a", 1, "")];
    let never = Lease::new("room", "me", 0);
    let error = store.append(&never, Append::new(&entries)).await.unwrap_err().to_string();
    assert!(error.contains("`room` is in the hands of another"), "{error}");
    let mine = store.acquire("room", "me", SHORT).await.unwrap().unwrap();
    let yours = acquire_expired(&again, "you").await;
    again.append(&yours, Append::new(&entries)).await.unwrap();
    // The first holder does not know that it lost the lease.
    let late = [user_entry("b", 2, ""), user_entry("a", 2, "")];
    let error = store.append(&mine, Append::new(&late)).await.unwrap_err().to_string();
    assert!(error.contains("`room` is in the hands of another"), "{error}");
    again.release(&yours).await.unwrap();
    store.append(&mine, Append::new(&late)).await.unwrap_err();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a"]);
}

pub async fn one_of_many_tasks_acquires_a_lease(backend: &dyn Backend) {
    let store = backend.open().await;
    let tasks = (0..12).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { acquire_as(&store, "room", &n.to_string()).await.is_some() })
    });
    let mut acquired = 0;
    for task in tasks.collect::<Vec<_>>() {
        acquired += usize::from(task.await.unwrap());
    }
    assert_eq!(acquired, 1);
}

pub async fn a_lease_without_entries_leaves_no_conversation(backend: &dyn Backend) {
    let store = backend.open().await;
    let room = acquire(&store, "room").await;
    store.append(&room, Append::new(&[])).await.unwrap();
    assert!(store.list(9).await.unwrap().is_empty());
    assert!(!store.delete(&room).await.unwrap(), "there was nothing");
    store.release(&room).await.unwrap();
    assert!(store.list(9).await.unwrap().is_empty());
}

pub async fn an_expired_lease_stays_with_its_holder_until_another_acquires_it(
    backend: &dyn Backend,
) {
    let (store, again) = (backend.open().await, backend.open().await);
    let room = store.acquire("room", "me", Duration::ZERO).await.unwrap().unwrap();
    store.append(&room, Append::new(&[user_entry("a", 1, "")])).await.unwrap();
    assert!(store.renew(&room, Duration::ZERO).await.unwrap());
    assert!(store.delete(&room).await.unwrap());
    store.release(&room).await.unwrap();
    let yours = acquire_as(&again, "room", "you").await.unwrap();
    again.append(&yours, Append::new(&[user_entry("b", 1, "")])).await.unwrap();
}

pub async fn a_term_rises_with_every_acquisition(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut last = store.lease_status("room").await.unwrap().term;
    let mut check = async |lease: &Lease| {
        assert!(lease.term > last, "{} after {last}", lease.term);
        last = lease.term;
        assert_eq!(backend.open().await.lease_status("room").await.unwrap().term, last);
    };
    // By the same holder, too.
    check(&acquire(&store, "room").await).await;
    let room = acquire(&store, "room").await;
    check(&room).await;
    store.append(&room, Append::new(&[user_entry("a", 1, "")])).await.unwrap();
    store.release(&room).await.unwrap();
    let room = acquire_as(&backend.open().await, "room", "you").await.unwrap();
    check(&room).await;
    // Conversations of the same name follow each other: one is deleted, one never has entries, one has an inbox only.
    assert!(store.delete(&room).await.unwrap());
    store.release(&room).await.unwrap();
    let room = acquire(&store, "room").await;
    check(&room).await;
    store.release(&room).await.unwrap();
    let position = store.push_inbox("room", &inbox_message("m", "Hello"), 9).await.unwrap();
    assert!(store.remove_inbox_item("room", position.unwrap()).await.unwrap());
    check(&acquire(&store, "room").await).await;
}

pub async fn the_holder_of_a_lease_is_known_until_it_expires_or_is_released(backend: &dyn Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let holder = async || again.lease_status("room").await.unwrap().holder;
    assert_eq!(holder().await, None);
    // Any name, as conversations have.
    let room = acquire_as(&store, "room", "my\0node").await.unwrap();
    for store in [&store, &again] {
        let status = store.lease_status("room").await.unwrap();
        assert_eq!((status.term, status.holder.as_deref()), (room.term, Some("my\0node")));
        assert_eq!(store.lease_status("other").await.unwrap().holder, None);
    }
    store.append(&room, Append::new(&[user_entry("a", 1, "")])).await.unwrap();
    store.release(&room).await.unwrap();
    assert_eq!(holder().await, None);
    let status = again.lease_status("room").await.unwrap();
    assert_eq!((status.term, status.is_expired), (room.term, false));
    let room = store.acquire("room", "me", SHORT).await.unwrap().unwrap();
    while holder().await.is_some() {
        tokio::task::yield_now().await;
    }
    assert!(again.lease_status("room").await.unwrap().is_expired);
    assert!(store.renew(&room, LONG).await.unwrap());
    assert_eq!(holder().await.as_deref(), Some("me"));
}

pub async fn a_lease_of_an_earlier_term_is_not_valid(backend: &dyn Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    append(&store, "room", &[user_entry("a", 1, "")]).await;
    let stale = acquire(&store, "room").await;
    // The same holder, as after a restart under the same name.
    let room = acquire(&again, "room").await;
    store.append(&stale, Append::new(&[user_entry("b", 1, "")])).await.unwrap_err();
    assert!(!store.renew(&stale, LONG).await.unwrap());
    store.delete(&stale).await.unwrap_err();
    store.release(&stale).await.unwrap();
    assert!(acquire_as(&store, "room", "you").await.is_none(), "still held");
    assert!(store.renew(&room, LONG).await.unwrap());
    store.append(&room, Append::new(&[user_entry("c", 1, "")])).await.unwrap();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a", "c"]);
}

pub async fn terms_never_repeat_when_many_tasks_acquire_and_remove(backend: &dyn Backend) {
    let store = backend.open().await;
    let tasks = (0..8).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut terms = Vec::new();
            while terms.len() < 20 {
                // Without entries, the row is removed at each release.
                if let Some(lease) = acquire_as(&store, "room", &n.to_string()).await {
                    terms.push(lease.term);
                    store.release(&lease).await.unwrap();
                }
                tokio::task::yield_now().await;
            }
            assert!(terms.is_sorted(), "{terms:?}");
            terms
        })
    });
    let mut terms = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        terms.extend(task.await.unwrap());
    }
    terms.sort_unstable();
    terms.dedup();
    assert_eq!(terms.len(), 8 * 20);
}
