//! Leases of a SQLite file whatever the clock of the machine says.

use std::sync::Mutex;
use std::time::Duration;

use futures::future::join_all;
use toolwright::chat::{Lease, Store as _};
use toolwright_memory::SqliteStore;

use super::{place, run};
use crate::fixtures::{LONG, hold, several};

#[tokio::test]
async fn a_clock_that_jumps_takes_no_lease_from_its_holder() {
    let (_directory, file) = place();
    let store = SqliteStore::open(&file).await.unwrap();
    let room = hold(&store, "room").await;
    let other = SqliteStore::open(&file).await.unwrap();
    let you = Lease::new("room", "you");
    // What the file says when the clock has jumped by decades, ahead and back.
    for until in [1, i64::MAX / 2] {
        run(&file, &format!("UPDATE conversations SET until = {until}")).await;
        for _ in 0..2 {
            assert!(!other.lease(&you, LONG).await.unwrap(), "{until}");
        }
        let entries = several(usize::try_from(until % 1_000).unwrap(), 1);
        store.append(&room, &entries).await.unwrap();
        assert!(store.lease(&room, LONG).await.unwrap(), "{until}");
    }
    assert_eq!(other.load("room").await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_lease_that_is_renewed_does_not_run_out_for_others() {
    let (_directory, file) = place();
    let store = SqliteStore::open(&file).await.unwrap();
    let other = SqliteStore::open(&file).await.unwrap();
    let (me, you) = (Lease::new("room", "me"), Lease::new("room", "you"));
    for _ in 0..20 {
        // Over at once, and yet renewed since the other looked last.
        assert!(store.lease(&me, Duration::ZERO).await.unwrap());
        assert!(!other.lease(&you, LONG).await.unwrap());
    }
    assert!(other.lease(&you, LONG).await.unwrap(), "not renewed since");
}

#[tokio::test]
async fn writers_are_served_in_the_order_they_came() {
    let (_directory, file) = place();
    let store = SqliteStore::open(&file).await.unwrap();
    let rooms: Vec<Lease> = (0..50).map(|n| Lease::new(format!("{n}"), "me")).collect();
    let served = Mutex::new(Vec::new());
    // All of them ask before the first is served, in this order.
    let writers = rooms.iter().map(async |room| {
        assert!(store.lease(room, LONG).await.unwrap());
        served.lock().unwrap().push(room.conversation.clone());
    });
    join_all(writers).await;
    let came: Vec<String> = rooms.into_iter().map(|room| room.conversation).collect();
    assert_eq!(served.into_inner().unwrap(), came);
}
