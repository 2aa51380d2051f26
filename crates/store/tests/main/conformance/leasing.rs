//! One holder at a time has the lease of a conversation, until it releases it or stops renewing it.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{Lease, Store};

use crate::backend::Backend;
use crate::fixtures::{LONG, ids, user_entry};

/// So short that the lease has expired at the next attempt.
const SHORT: Duration = Duration::from_millis(1);

/// Retries until the lease of another holder has expired.
async fn acquire_expired(store: &dyn Store, lease: &Lease) {
    while !store.acquire(lease, LONG).await.unwrap() {
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn a_lease_is_acquired_once_and_renewed_by_its_holder(backend: &Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.acquire(&me, LONG).await.unwrap());
    for _ in 0..2 {
        assert!(!again.acquire(&you, LONG).await.unwrap());
        assert!(again.acquire(&me, Duration::MAX).await.unwrap(), "renewed");
    }
    let elsewhere = Lease::new("other room", "you");
    assert!(again.acquire(&elsewhere, LONG).await.unwrap());
}

pub(crate) async fn a_lease_that_is_not_renewed_expires(backend: &Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.acquire(&me, SHORT).await.unwrap());
    acquire_expired(&again, &you).await;
    assert!(!store.acquire(&me, LONG).await.unwrap());
    assert!(!again.acquire(&me, LONG).await.unwrap());
}

pub(crate) async fn a_released_lease_is_free(backend: &Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.acquire(&me, LONG).await.unwrap());
    // Only its holder releases a lease.
    again.release(&you).await.unwrap();
    assert!(!again.acquire(&you, LONG).await.unwrap());
    store.append(&me, &[user_entry("a", 1, "")]).await.unwrap();
    store.release(&me).await.unwrap();
    store.release(&me).await.unwrap();
    assert!(again.acquire(&you, LONG).await.unwrap());
    store.release(&me).await.unwrap();
    again.append(&you, &[user_entry("b", 1, "")]).await.unwrap();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a", "b"]);
}

pub(crate) async fn a_holder_that_lost_its_lease_appends_nothing(backend: &Backend) {
    let (store, again) = (backend.open().await, backend.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    let entries = [user_entry("a", 1, "")];
    let error = store.append(&me, &entries).await.unwrap_err().to_string();
    assert!(error.contains("`room` is in the hands of another"), "{error}");
    assert!(store.acquire(&me, SHORT).await.unwrap());
    acquire_expired(&again, &you).await;
    again.append(&you, &entries).await.unwrap();
    // The first holder does not know that it lost the lease.
    let late = [user_entry("b", 2, ""), user_entry("a", 2, "")];
    let error = store.append(&me, &late).await.unwrap_err().to_string();
    assert!(error.contains("`room` is in the hands of another"), "{error}");
    again.release(&you).await.unwrap();
    store.append(&me, &late).await.unwrap_err();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a"]);
}

pub(crate) async fn one_of_many_tasks_acquires_a_lease(backend: &Backend) {
    let store = backend.open().await;
    let tasks = (0..12).map(|n| {
        let store = Arc::clone(&store);
        let lease = Lease::new("room", format!("{n}"));
        tokio::spawn(async move { store.acquire(&lease, LONG).await.unwrap() })
    });
    let mut acquired = 0;
    for task in tasks.collect::<Vec<_>>() {
        acquired += usize::from(task.await.unwrap());
    }
    assert_eq!(acquired, 1);
}

pub(crate) async fn a_lease_without_entries_leaves_no_conversation(backend: &Backend) {
    let store = backend.open().await;
    let me = Lease::new("room", "me");
    assert!(store.acquire(&me, LONG).await.unwrap());
    store.append(&me, &[]).await.unwrap();
    assert!(store.list(9).await.unwrap().is_empty());
    assert!(!store.delete(&me).await.unwrap(), "there was nothing");
    store.release(&me).await.unwrap();
    assert!(store.list(9).await.unwrap().is_empty());
}

pub(crate) async fn an_expired_lease_stays_with_its_holder_until_another_acquires_it(
    backend: &Backend,
) {
    let (store, again) = (backend.open().await, backend.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.acquire(&me, Duration::ZERO).await.unwrap());
    store.append(&me, &[user_entry("a", 1, "")]).await.unwrap();
    assert!(store.acquire(&me, Duration::ZERO).await.unwrap(), "renewed");
    assert!(store.delete(&me).await.unwrap());
    store.release(&me).await.unwrap();
    assert!(again.acquire(&you, LONG).await.unwrap());
    again.append(&you, &[user_entry("b", 1, "")]).await.unwrap();
}
