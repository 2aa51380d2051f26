//! Leases of a SQLite file do not depend on the wall clock.

use std::sync::Mutex;
use std::time::Duration;

use futures::future::join_all;
use toolwright::chat::{Append, Store as _};
use toolwright_store::SqliteStore;

use super::{execute, temporary_file};
use crate::fixtures::{LONG, acquire, acquire_as, numbered_entries};

#[tokio::test]
async fn a_clock_that_jumps_ends_no_lease() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let room = acquire(&store, "room").await;
    let other = SqliteStore::open(&file).await.unwrap();
    // As stored by a clock that is decades behind or ahead.
    for until in [1, i64::MAX / 2] {
        execute(&file, &format!("UPDATE conversations SET until = {until}")).await;
        for _ in 0..2 {
            assert!(acquire_as(&other, "room", "you").await.is_none(), "{until}");
            assert!(other.list_unattended(9).await.unwrap().is_empty(), "{until}");
        }
        let entries = numbered_entries(usize::try_from(until % 1_000).unwrap(), 1);
        store.append(&room, Append::new(&entries)).await.unwrap();
        assert!(store.renew(&room, LONG).await.unwrap(), "{until}");
    }
    assert_eq!(other.load("room").await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_renewed_lease_does_not_expire_for_others() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let other = SqliteStore::open(&file).await.unwrap();
    let room = acquire(&store, "room").await;
    store.append(&room, Append::new(&numbered_entries(0, 1))).await.unwrap();
    for _ in 0..20 {
        // Expires at once, but was renewed since the other's last attempt.
        assert!(store.renew(&room, Duration::ZERO).await.unwrap());
        assert!(acquire_as(&other, "room", "you").await.is_none());
        assert!(store.renew(&room, Duration::ZERO).await.unwrap());
        assert!(other.list_unattended(9).await.unwrap().is_empty());
    }
    assert_eq!(other.list_unattended(9).await.unwrap(), ["room"], "not renewed since");
    assert!(acquire_as(&other, "room", "you").await.is_some(), "not renewed since");
}

#[tokio::test]
async fn writers_are_served_in_order() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let rooms: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    let served = Mutex::new(Vec::new());
    // All of them are queued, in this order, before the first is served.
    let writers = rooms.iter().map(async |room| {
        acquire(&store, room).await;
        served.lock().unwrap().push(room.clone());
    });
    join_all(writers).await;
    assert_eq!(served.into_inner().unwrap(), rooms);
}
