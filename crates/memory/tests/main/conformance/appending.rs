//! Entries are added in order, once, and together.

use std::sync::Arc;

use futures::FutureExt as _;
use toolwright::chat::What;

use crate::backend::Place;
use crate::fixtures::{hold, ids, said, several, tell, texts};

pub(crate) async fn entries_come_back_in_the_order_they_were_told(place: &Place) {
    let store = place.open().await;
    let room = hold(&store, "room").await;
    // By when they were told, not by what they say about when and who they are.
    store
        .append(&room, &[said("z", 9, "one"), said("b", 5, "two")])
        .await
        .unwrap();
    store.append(&room, &[said("a", 1, "three")]).await.unwrap();
    store.append(&room, &[]).await.unwrap();
    for store in [store, place.open().await] {
        let loaded = store.load("room").await.unwrap();
        assert_eq!(ids(&loaded), ["z", "b", "a"]);
        assert!(store.load("elsewhere").await.unwrap().is_empty());
    }
}

pub(crate) async fn an_entry_that_is_told_again_is_the_same_one(place: &Place) {
    let store = place.open().await;
    let (room, other) = (hold(&store, "room").await, hold(&store, "other").await);
    let entries = [said("a", 1, "one"), said("b", 2, "two"), said("a", 3, "x")];
    for _ in 0..2 {
        store.append(&room, &entries).await.unwrap();
    }
    let more = [said("c", 4, "three"), said("b", 5, "four")];
    store.append(&room, &more).await.unwrap();
    store.append(&other, &[said("a", 6, "y")]).await.unwrap();
    let loaded = store.load("room").await.unwrap();
    let expected = [
        said("a", 1, "one"),
        said("b", 2, "two"),
        said("c", 4, "three"),
    ];
    assert_eq!(texts(&loaded), texts(&expected));
    assert_eq!(
        texts(&store.load("other").await.unwrap()),
        texts(&[said("a", 6, "y")])
    );
    let listed = store.list(2).await.unwrap();
    let counted: Vec<(u64, u64)> = listed.iter().map(|it| (it.entries, it.last)).collect();
    assert_eq!(counted, [(1, 6), (3, 4)]);
}

pub(crate) async fn a_batch_is_kept_whole_or_not_at_all(place: &Place) {
    let store = place.open().await;
    let room = hold(&store, "room").await;
    for round in 0..20 {
        // Whoever does not wait for it finds all of it, or nothing.
        let batch = several(round * 50, 50);
        let mut append = store.append(&room, &batch);
        for _ in 0..round {
            if (&mut append).now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(append);
        let marker = [said(format!("after {round}"), 0, "")];
        store.append(&room, &marker).await.unwrap();
    }
    // A batch that nobody waits for may still be under way; without the lease it is refused.
    store.release(&room).await.unwrap();
    let loaded = store.load("room").await.unwrap();
    let of = |round: usize| {
        let numbers = loaded
            .iter()
            .filter_map(|entry| entry.id.parse::<usize>().ok());
        numbers.filter(|id| id / 50 == round).count()
    };
    for round in 0..20 {
        assert!([0, 50].contains(&of(round)), "{round}: {}", of(round));
    }
    let summary = store.list(1).await.unwrap().remove(0);
    assert_eq!(summary.entries, loaded.len() as u64);
}

pub(crate) async fn conversations_are_told_at_the_same_time(place: &Place) {
    let store = place.open().await;
    let tasks = (0..12).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let room = hold(&store, &format!("room {n}")).await;
            for batch in 0..10 {
                store.append(&room, &several(batch * 3, 3)).await.unwrap();
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let expected = texts(&several(0, 30));
    for n in 0..12 {
        let loaded = store.load(&format!("room {n}")).await.unwrap();
        assert_eq!(texts(&loaded), expected, "{n}");
    }
}

pub(crate) async fn one_conversation_is_told_from_many_tasks(place: &Place) {
    let store = place.open().await;
    let room = hold(&store, "room").await;
    let tasks = (0..16).map(|n| {
        let (store, room) = (Arc::clone(&store), room.clone());
        tokio::spawn(async move { store.append(&room, &several(n * 5, 5)).await.unwrap() })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let loaded = store.load("room").await.unwrap();
    assert_eq!(loaded.len(), 80);
    // Nobody comes in between.
    for batch in loaded.chunks(5) {
        let first: usize = batch[0].id.parse().unwrap();
        assert_eq!(texts(batch), texts(&several(first, 5)));
    }
    assert_eq!(store.list(1).await.unwrap()[0].entries, 80);
}

pub(crate) async fn ten_thousand_entries_are_kept(place: &Place) {
    let store = place.open().await;
    let entries = several(0, 10_000);
    for batch in entries.chunks(2_500) {
        tell(&store, "room", batch).await;
    }
    let store = place.open().await;
    let loaded = store.load("room").await.unwrap();
    assert_eq!(texts(&loaded), texts(&entries));
    let last = store.tail("room", None, 3).await.unwrap();
    assert_eq!(ids(&last), ["9997", "9998", "9999"]);
    let middle = store.tail("room", Some("5000"), 2).await.unwrap();
    assert_eq!(ids(&middle), ["4998", "4999"]);
}

pub(crate) async fn a_tail_is_read_page_by_page(place: &Place) {
    let store = place.open().await;
    tell(&store, "other", &several(0, 9)).await;
    tell(&store, "room", &several(0, 10)).await;
    tell(&store, "other", &several(9, 9)).await;
    tell(&store, "room", &several(10, 1)).await;
    let mut pages = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let page = store.tail("room", before.as_deref(), 4).await.unwrap();
        let Some(first) = page.first() else { break };
        before = Some(first.id.clone());
        pages.push(ids(&page).join(" "));
    }
    assert_eq!(pages, ["7 8 9 10", "3 4 5 6", "0 1 2"]);
    assert!(store.tail("room", None, 0).await.unwrap().is_empty());
    // An entry that is not there has nothing before it.
    for unknown in ["11", "", "room"] {
        let page = store.tail("room", Some(unknown), 4).await.unwrap();
        assert!(page.is_empty(), "{unknown}");
    }
    let all = store.tail("room", Some("10"), usize::MAX).await.unwrap();
    assert!(matches!(all[9].what, What::User { .. }) && all.len() == 10);
}
