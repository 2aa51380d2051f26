//! Leases of a SQLite file do not depend on the wall clock.

use std::sync::Mutex;
use std::time::Duration;

use futures::future::join_all;
use toolwright::chat::{Lease, Store as _};
use toolwright_store::SqliteStore;

use super::{execute, temporary_file};
use crate::fixtures::{LONG, acquire, numbered_entries};

#[tokio::test]
async fn a_clock_that_jumps_ends_no_lease() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let room = acquire(&store, "room").await;
    let other = SqliteStore::open(&file).await.unwrap();
    let you = Lease::new("room", "you");
    // As stored by a clock that is decades behind or ahead.
    for until in [1, i64::MAX / 2] {
        execute(&file, &format!("UPDATE conversations SET until = {until}")).await;
        for _ in 0..2 {
            assert!(!other.acquire(&you, LONG).await.unwrap(), "{until}");
        }
        let entries = numbered_entries(usize::try_from(until % 1_000).unwrap(), 1);
        store.append(&room, &entries).await.unwrap();
        assert!(store.acquire(&room, LONG).await.unwrap(), "{until}");
    }
    assert_eq!(other.load("room").await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_renewed_lease_does_not_expire_for_others() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let other = SqliteStore::open(&file).await.unwrap();
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    for _ in 0..20 {
        // Expires at once, but was renewed since the other's last attempt.
        assert!(store.acquire(&me, Duration::ZERO).await.unwrap());
        assert!(!other.acquire(&you, LONG).await.unwrap());
    }
    assert!(other.acquire(&you, LONG).await.unwrap(), "not renewed since");
}

#[tokio::test]
async fn writers_are_served_in_order() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let rooms: Vec<Lease> = (0..50).map(|n| Lease::new(format!("{n}"), "me")).collect();
    let served = Mutex::new(Vec::new());
    // All of them are queued, in this order, before the first is served.
    let writers = rooms.iter().map(async |room| {
        assert!(store.acquire(room, LONG).await.unwrap());
        served.lock().unwrap().push(room.conversation.clone());
    });
    join_all(writers).await;
    let queued: Vec<String> = rooms.into_iter().map(|room| room.conversation).collect();
    assert_eq!(served.into_inner().unwrap(), queued);
}
