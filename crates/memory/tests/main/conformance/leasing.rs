//! One of many has a conversation, until it gives it back or goes silent.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{Lease, Store};

use crate::backend::Place;
use crate::fixtures::{LONG, ids, said};

/// So short that it is over when somebody looks again.
const SHORT: Duration = Duration::from_millis(1);

/// Waits until somebody's lease is over, by trying to take it.
async fn outwait(store: &dyn Store, lease: &Lease) {
    while !store.lease(lease, LONG).await.unwrap() {
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn a_lease_is_taken_once_and_renewed_by_its_holder(place: &Place) {
    let (store, again) = (place.open().await, place.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.lease(&me, LONG).await.unwrap());
    for _ in 0..2 {
        assert!(!again.lease(&you, LONG).await.unwrap());
        assert!(again.lease(&me, Duration::MAX).await.unwrap(), "renewed");
    }
    let elsewhere = Lease::new("other room", "you");
    assert!(again.lease(&elsewhere, LONG).await.unwrap());
}

pub(crate) async fn a_lease_ends_by_itself(place: &Place) {
    let (store, again) = (place.open().await, place.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.lease(&me, SHORT).await.unwrap());
    outwait(&again, &you).await;
    assert!(!store.lease(&me, LONG).await.unwrap());
    assert!(!again.lease(&me, LONG).await.unwrap());
}

pub(crate) async fn a_lease_that_is_given_back_is_free(place: &Place) {
    let (store, again) = (place.open().await, place.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.lease(&me, LONG).await.unwrap());
    // Nobody gives back what is another's.
    again.release(&you).await.unwrap();
    assert!(!again.lease(&you, LONG).await.unwrap());
    store.append(&me, &[said("a", 1, "")]).await.unwrap();
    store.release(&me).await.unwrap();
    store.release(&me).await.unwrap();
    assert!(again.lease(&you, LONG).await.unwrap());
    store.release(&me).await.unwrap();
    again.append(&you, &[said("b", 1, "")]).await.unwrap();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a", "b"]);
}

pub(crate) async fn whoever_lost_a_lease_appends_nothing(place: &Place) {
    let (store, again) = (place.open().await, place.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    let entries = [said("a", 1, "")];
    let refused = store.append(&me, &entries).await.unwrap_err().to_string();
    assert!(
        refused.contains("`room` is in the hands of another"),
        "{refused}"
    );
    assert!(store.lease(&me, SHORT).await.unwrap());
    outwait(&again, &you).await;
    again.append(&you, &entries).await.unwrap();
    // It believes that it still has it, and is wrong.
    let late = [said("b", 2, ""), said("a", 2, "")];
    let refused = store.append(&me, &late).await.unwrap_err().to_string();
    assert!(
        refused.contains("`room` is in the hands of another"),
        "{refused}"
    );
    again.release(&you).await.unwrap();
    store.append(&me, &late).await.unwrap_err();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a"]);
}

pub(crate) async fn one_of_many_takes_a_lease(place: &Place) {
    let store = place.open().await;
    let tasks = (0..12).map(|n| {
        let store = Arc::clone(&store);
        let lease = Lease::new("room", format!("{n}"));
        tokio::spawn(async move { store.lease(&lease, LONG).await.unwrap() })
    });
    let mut taken = 0;
    for task in tasks.collect::<Vec<_>>() {
        taken += usize::from(task.await.unwrap());
    }
    assert_eq!(taken, 1);
}

pub(crate) async fn a_lease_leaves_nothing_behind(place: &Place) {
    let store = place.open().await;
    let me = Lease::new("room", "me");
    assert!(store.lease(&me, LONG).await.unwrap());
    store.append(&me, &[]).await.unwrap();
    assert!(store.list(9).await.unwrap().is_empty());
    assert!(!store.forget(&me).await.unwrap(), "there was nothing");
    store.release(&me).await.unwrap();
    assert!(store.list(9).await.unwrap().is_empty());
}

pub(crate) async fn a_lease_that_ran_out_and_that_no_other_took_is_still_its_holders(
    place: &Place,
) {
    let (store, again) = (place.open().await, place.open().await);
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    assert!(store.lease(&me, Duration::ZERO).await.unwrap());
    store.append(&me, &[said("a", 1, "")]).await.unwrap();
    assert!(store.lease(&me, Duration::ZERO).await.unwrap(), "renewed");
    assert!(store.forget(&me).await.unwrap());
    store.release(&me).await.unwrap();
    assert!(again.lease(&you, LONG).await.unwrap());
    again.append(&you, &[said("b", 1, "")]).await.unwrap();
}
