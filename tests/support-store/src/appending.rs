//! Entries are appended in order, once, and a batch as a whole.

use std::sync::Arc;

use futures::FutureExt as _;
use toolwright::chat::{Append, EntryBody, TailEnd};

use crate::Backend;
use crate::fixtures::{acquire, append, encode, ids, numbered_entries, user_entry};

pub async fn entries_are_loaded_in_the_order_they_were_appended(backend: &dyn Backend) {
    let store = backend.open().await;
    let room = acquire(&store, "room").await;
    // Ordered by the appends, not by the times and ids of the entries.
    store
        .append(&room, Append::new(&[user_entry("z", 9, "one"), user_entry("b", 5, "two")]))
        .await
        .unwrap();
    store.append(&room, Append::new(&[user_entry("a", 1, "three")])).await.unwrap();
    store.append(&room, Append::new(&[])).await.unwrap();
    for store in [store, backend.open().await] {
        let loaded = store.load("room").await.unwrap();
        assert_eq!(ids(&loaded), ["z", "b", "a"]);
        assert!(store.load("elsewhere").await.unwrap().is_empty());
    }
}

pub async fn an_entry_that_is_appended_again_is_stored_once(backend: &dyn Backend) {
    let store = backend.open().await;
    let (room, other) = (acquire(&store, "room").await, acquire(&store, "other").await);
    let entries = [user_entry("a", 1, "one"), user_entry("b", 2, "two"), user_entry("a", 3, "x")];
    for _ in 0..2 {
        store.append(&room, Append::new(&entries)).await.unwrap();
    }
    let more = [user_entry("c", 4, "three"), user_entry("b", 5, "four")];
    store.append(&room, Append::new(&more)).await.unwrap();
    store.append(&other, Append::new(&[user_entry("a", 6, "y")])).await.unwrap();
    let loaded = store.load("room").await.unwrap();
    let expected =
        [user_entry("a", 1, "one"), user_entry("b", 2, "two"), user_entry("c", 4, "three")];
    assert_eq!(encode(&loaded), encode(&expected));
    assert_eq!(encode(&store.load("other").await.unwrap()), encode(&[user_entry("a", 6, "y")]));
    let listed = store.list(2).await.unwrap();
    let counts: Vec<(u64, u64)> = listed.iter().map(|it| (it.entries, it.last)).collect();
    assert_eq!(counts, [(1, 6), (3, 4)]);
}

pub async fn a_batch_is_stored_whole_or_not_at_all(backend: &dyn Backend) {
    let store = backend.open().await;
    let room = acquire(&store, "room").await;
    for round in 0..20 {
        // A cancelled append stores the whole batch, or nothing.
        let batch = numbered_entries(round * 50, 50);
        let mut append = store.append(&room, Append::new(&batch));
        for _ in 0..round {
            if (&mut append).now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(append);
        let marker = [user_entry(format!("after {round}"), 0, "")];
        store.append(&room, Append::new(&marker)).await.unwrap();
    }
    // A cancelled append may still be running; without the lease it is rejected.
    store.release(&room).await.unwrap();
    let loaded = store.load("room").await.unwrap();
    let count = |round: usize| {
        let numbers = loaded.iter().filter_map(|entry| entry.id.parse::<usize>().ok());
        numbers.filter(|id| id / 50 == round).count()
    };
    for round in 0..20 {
        assert!([0, 50].contains(&count(round)), "{round}: {}", count(round));
    }
    let summary = store.list(1).await.unwrap().remove(0);
    assert_eq!(summary.entries, loaded.len() as u64);
}

pub async fn many_conversations_are_appended_to_at_the_same_time(backend: &dyn Backend) {
    let store = backend.open().await;
    let tasks = (0..12).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let room = acquire(&store, &format!("room {n}")).await;
            for batch in 0..10 {
                store.append(&room, Append::new(&numbered_entries(batch * 3, 3))).await.unwrap();
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let expected = encode(&numbered_entries(0, 30));
    for n in 0..12 {
        let loaded = store.load(&format!("room {n}")).await.unwrap();
        assert_eq!(encode(&loaded), expected, "{n}");
    }
}

pub async fn one_conversation_is_appended_to_by_many_tasks(backend: &dyn Backend) {
    let store = backend.open().await;
    let room = acquire(&store, "room").await;
    let tasks = (0..16).map(|n| {
        let (store, room) = (Arc::clone(&store), room.clone());
        tokio::spawn(async move {
            store.append(&room, Append::new(&numbered_entries(n * 5, 5))).await.unwrap()
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let loaded = store.load("room").await.unwrap();
    assert_eq!(loaded.len(), 80);
    // No other task appends within a batch.
    for batch in loaded.chunks(5) {
        let first: usize = batch[0].id.parse().unwrap();
        assert_eq!(encode(batch), encode(&numbered_entries(first, 5)));
    }
    assert_eq!(store.list(1).await.unwrap()[0].entries, 80);
}

pub async fn ten_thousand_entries_are_stored(backend: &dyn Backend) {
    let store = backend.open().await;
    let entries = numbered_entries(0, 10_000);
    for batch in entries.chunks(2_500) {
        append(&store, "room", batch).await;
    }
    let store = backend.open().await;
    let loaded = store.load("room").await.unwrap();
    assert_eq!(encode(&loaded), encode(&entries));
    let last = store.tail("room", TailEnd::Newest, 3).await.unwrap();
    assert_eq!(ids(&last), ["9997", "9998", "9999"]);
    let middle = store.tail("room", TailEnd::Before("5000"), 2).await.unwrap();
    assert_eq!(ids(&middle), ["4998", "4999"]);
}

pub async fn a_tail_is_read_page_by_page(backend: &dyn Backend) {
    let store = backend.open().await;
    append(&store, "other", &numbered_entries(0, 9)).await;
    append(&store, "room", &numbered_entries(0, 10)).await;
    append(&store, "other", &numbered_entries(9, 9)).await;
    append(&store, "room", &numbered_entries(10, 1)).await;
    let mut pages = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let end = before.as_deref().map_or(TailEnd::Newest, TailEnd::Before);
        let page = store.tail("room", end, 4).await.unwrap();
        let Some(first) = page.first() else { break };
        before = Some(first.id.clone());
        pages.push(ids(&page).join(" "));
    }
    assert_eq!(pages, ["7 8 9 10", "3 4 5 6", "0 1 2"]);
    assert!(store.tail("room", TailEnd::Newest, 0).await.unwrap().is_empty());
    // No entries precede an unknown one.
    for unknown in ["11", "", "room"] {
        for end in [TailEnd::Before(unknown), TailEnd::At(unknown)] {
            let page = store.tail("room", end, 4).await.unwrap();
            assert!(page.is_empty(), "{unknown}");
        }
    }
    let page = store.tail("room", TailEnd::At("9"), 2).await.unwrap();
    assert_eq!(ids(&page), ["8", "9"]);
    let page = store.tail("room", TailEnd::At("0"), 2).await.unwrap();
    assert_eq!(ids(&page), ["0"]);
    let all = store.tail("room", TailEnd::Before("10"), usize::MAX).await.unwrap();
    assert!(matches!(all[9].body, EntryBody::User { .. }) && all.len() == 10);
}
