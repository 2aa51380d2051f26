//! The inbox: items are added without the lease, each once, and are taken in the append that journals them.

use std::sync::Arc;

use toolwright::chat::{
    Append, InboxBody, InboxItem, PrincipalRecord, Store, StoreError, TurnStatus,
};

use crate::Backend;
use crate::fixtures::{acquire, append, ids, inbox_message, numbered_entries, user_entry};

fn stop(id: &str) -> InboxItem {
    InboxItem::new(id, 8, InboxBody::Stop)
}

async fn push(store: &dyn Store, item: &InboxItem) -> u64 {
    store.push_inbox("room", item, 100).await.unwrap().expect("there is room")
}

async fn inbox_ids(store: &dyn Store) -> Vec<String> {
    store.inbox("room").await.unwrap().into_iter().map(|item| item.id).collect()
}

pub async fn items_are_returned_as_they_were_added_and_in_order(backend: &dyn Backend) {
    let store = backend.open().await;
    let mut ada = PrincipalRecord::new("ada");
    ada.scopes = vec!["tools:read".to_owned()];
    let items = [
        inbox_message("z", "One\0 \u{202e}").with_principal(Some(ada)),
        stop("b").with_peer(Some("peer\0 1".to_owned())),
        InboxItem::new("a\0b", 0, InboxBody::Decisions { responses: Vec::new() }),
        inbox_message("", "Two"),
    ];
    let mut last = 0;
    for item in &items {
        let position = push(&store, item).await;
        assert!(position > last);
        last = position;
    }
    for store in [store, backend.open().await] {
        let stored = store.inbox("room").await.unwrap();
        assert!(stored.is_sorted_by_key(|item| item.position));
        let resumes: Vec<bool> = stored.iter().map(|item| item.resumes).collect();
        assert_eq!(resumes, [false, true, true, false]);
        for (stored, item) in stored.into_iter().zip(&items) {
            let expected = item.clone().stored_at(stored.position, TurnStatus::Over);
            assert_eq!(stored, expected);
        }
        // Without entries it is not listed.
        assert!(store.list(9).await.unwrap().is_empty());
        assert!(store.inbox("elsewhere").await.unwrap().is_empty());
    }
}

pub async fn an_item_is_added_once(backend: &dyn Backend) {
    let store = backend.open().await;
    let first = push(&store, &inbox_message("a", "One")).await;
    push(&store, &inbox_message("b", "Two")).await;
    // Also if the inbox is full now.
    let again = store.push_inbox("room", &inbox_message("a", "One"), 0).await.unwrap();
    assert_eq!(again, Some(first));
    let room = acquire(&store, "room").await;
    let taken = [user_entry("a", 1, "One")];
    store.append(&room, Append::new(&taken).taking(&[first])).await.unwrap();
    let again = store.push_inbox("room", &inbox_message("a", "One"), 0).await.unwrap();
    assert_eq!(again, Some(0), "it is in the journal");
    assert_eq!(inbox_ids(&store).await, ["b"]);
    // Ids are unique in one conversation only.
    let elsewhere = store.push_inbox("other", &inbox_message("a", "One"), 9).await.unwrap();
    assert!(elsewhere.is_some_and(|position| position > 0));
}

pub async fn a_full_inbox_accepts_nothing(backend: &dyn Backend) {
    let store = backend.open().await;
    for (n, expected) in [true, true, false, false].into_iter().enumerate() {
        let item = inbox_message(&n.to_string(), "");
        let pushed = store.push_inbox("room", &item, 2).await.unwrap();
        assert_eq!(pushed.is_some(), expected, "{n}");
    }
    assert_eq!(inbox_ids(&store).await, ["0", "1"]);
    let other = store.push_inbox("other", &inbox_message("0", ""), 2).await.unwrap();
    assert!(other.is_some());
    let first = store.inbox("room").await.unwrap()[0].position;
    assert!(store.remove_inbox_item("room", first).await.unwrap());
    let third = store.push_inbox("room", &inbox_message("2", ""), 2).await.unwrap();
    assert_eq!(third, Some(first + 2), "positions are not used again");
    assert_eq!(inbox_ids(&store).await, ["1", "2"]);
}

pub async fn an_item_is_taken_in_the_append_that_journals_it(backend: &dyn Backend) {
    let store = backend.open().await;
    let positions = [
        push(&store, &inbox_message("a", "One")).await,
        push(&store, &inbox_message("b", "Two")).await,
        push(&store, &stop("c")).await,
    ];
    let room = acquire(&store, "room").await;
    let entries = [user_entry("a", 1, "One"), user_entry("b", 1, "Two")];
    // Both or neither.
    let stale = toolwright::chat::Lease::new("room", "me", room.term - 1);
    store.append(&stale, Append::new(&entries).taking(&positions)).await.unwrap_err();
    assert_eq!(inbox_ids(&store).await, ["a", "b", "c"]);
    store.append(&room, Append::new(&entries).taking(&positions[..2])).await.unwrap();
    assert_eq!(inbox_ids(&store).await, ["c"]);
    // An item may be taken without an entry, and one that is gone may be taken again.
    for _ in 0..2 {
        store.append(&room, Append::new(&[]).taking(&positions)).await.unwrap();
    }
    assert!(inbox_ids(&backend.open().await).await.is_empty());
    assert_eq!(ids(&store.load("room").await.unwrap()), ["a", "b"]);
    store.append(&room, Append::new(&numbered_entries(0, 2)).durable(false)).await.unwrap();
    assert_eq!(backend.open().await.load("room").await.unwrap().len(), 4);
}

pub async fn an_item_is_withdrawn_once(backend: &dyn Backend) {
    let store = backend.open().await;
    let first = push(&store, &inbox_message("a", "One")).await;
    let second = push(&store, &inbox_message("b", "Two")).await;
    assert!(store.remove_inbox_item("room", second).await.unwrap());
    assert!(!store.remove_inbox_item("room", second).await.unwrap());
    assert!(!store.remove_inbox_item("other", first).await.unwrap());
    assert!(!store.remove_inbox_item("room", first + 9).await.unwrap());
    assert_eq!(inbox_ids(&store).await, ["a"]);
    // A holder that has read it before cannot take it any more, nor anything with it.
    let room = acquire(&store, "room").await;
    let entries = [user_entry("a", 1, "One"), user_entry("b", 1, "Two")];
    let taken = [first, second];
    let late = store.append(&room, Append::new(&entries).taking(&taken)).await.unwrap_err();
    assert!(matches!(late, StoreError::Withdrawn { .. }), "{late}");
    assert!(store.load("room").await.unwrap().is_empty());
    assert_eq!(inbox_ids(&store).await, ["a"]);
}

pub async fn an_inbox_survives_leases_and_is_deleted_with_its_conversation(backend: &dyn Backend) {
    let store = backend.open().await;
    push(&store, &inbox_message("a", "One")).await;
    let room = acquire(&store, "room").await;
    store.release(&room).await.unwrap();
    assert_eq!(inbox_ids(&backend.open().await).await, ["a"]);
    append(&store, "room", &numbered_entries(0, 2)).await;
    let room = acquire(&store, "room").await;
    assert!(store.delete(&room).await.unwrap());
    store.release(&room).await.unwrap();
    assert!(inbox_ids(&backend.open().await).await.is_empty());
    assert!(store.list_unattended(9).await.unwrap().is_empty());
}

pub async fn a_message_resumes_a_turn_if_it_is_sent_during_the_pause(backend: &dyn Backend) {
    let store = backend.open().await;
    let room = acquire(&store, "room").await;
    let statuses = [TurnStatus::Running, TurnStatus::Paused, TurnStatus::Over];
    for (n, turn) in statuses.into_iter().enumerate() {
        let entries = numbered_entries(n, 1);
        store.append(&room, Append::new(&entries).turn(turn)).await.unwrap();
        // Without entries, the status stays.
        store.append(&room, Append::new(&[]).turn(TurnStatus::Over)).await.unwrap();
        push(&store, &inbox_message(&format!("m{n}"), "")).await;
        push(&store, &stop(&format!("s{n}"))).await;
    }
    let resumes = store.inbox("room").await.unwrap();
    let resumes: Vec<bool> = resumes.iter().map(|item| item.resumes).collect();
    assert_eq!(resumes, [false, true, true, true, false, true]);
}

pub async fn many_tasks_add_to_one_inbox(backend: &dyn Backend) {
    const LIMIT: usize = 50;
    let stores = [backend.open().await, backend.open().await];
    let tasks = (0..10).map(|task| {
        let store = Arc::clone(&stores[task % 2]);
        tokio::spawn(async move {
            let mut positions = Vec::new();
            for n in 0..8 {
                let item = inbox_message(&format!("{task}-{n}"), "");
                positions.extend(store.push_inbox("room", &item, LIMIT).await.unwrap());
            }
            assert!(positions.is_sorted());
            positions
        })
    });
    let mut positions = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        positions.extend(task.await.unwrap());
    }
    positions.sort_unstable();
    let expected: Vec<u64> = (1..=LIMIT as u64).collect();
    assert_eq!(positions, expected);
    let stored = stores[0].inbox("room").await.unwrap();
    let stored: Vec<u64> = stored.into_iter().map(|item| item.position).collect();
    assert_eq!(stored, expected);
}

pub async fn an_item_is_not_lost_when_its_conversation_is_removed_meanwhile(backend: &dyn Backend) {
    let store = backend.open().await;
    let removing = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for _ in 0..100 {
                // Removes the row of the conversation, unless it has an item.
                let room = acquire(&store, "room").await;
                store.release(&room).await.unwrap();
            }
        }
    });
    for n in 0..50 {
        let position = push(&store, &inbox_message(&n.to_string(), "")).await;
        assert_eq!(inbox_ids(&store).await, [n.to_string()]);
        assert!(store.remove_inbox_item("room", position).await.unwrap(), "{n}");
    }
    removing.await.unwrap();
    assert!(inbox_ids(&store).await.is_empty());
}
