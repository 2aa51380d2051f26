//! Stores, and turns whose store fails.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::Content;
use toolwright::chat::{
    Append, Chat, ChatError, Entry, EntryBody, InboxBody, InboxItem, Lease, MemoryStore, Response,
    Store, StoreError, StoreFuture, TailEnd, Turn, TurnLimits, delegate_store,
};
use toolwright::testing::ScriptedModel;

use crate::support::{Log, assert_complete, builder, none, pay, read_tool, stored_entries, write};

fn entry(id: &str, text: &str) -> Entry {
    let content = vec![Content::text(text)];
    Entry::new(id, 0, EntryBody::User { content })
}

#[tokio::test]
async fn an_entry_that_is_appended_again_is_the_same_one() {
    let store = MemoryStore::new();
    let room = store.acquire("room", "me", Duration::MAX).await.unwrap().unwrap();
    let other = store.acquire("other", "me", Duration::MAX).await.unwrap().unwrap();
    let entries = [entry("a", "one"), entry("b", "two"), entry("a", "other")];
    for _ in 0..2 {
        store.append(&room, Append::new(&entries)).await.unwrap();
    }
    let more = [entry("c", "three"), entry("b", "four")];
    store.append(&room, Append::new(&more)).await.unwrap();
    let elsewhere = [entry("a", "elsewhere")];
    store.append(&other, Append::new(&elsewhere)).await.unwrap();
    let loaded = store.load("room").await.unwrap();
    let ids: Vec<&str> = loaded.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    let EntryBody::User { content } = &loaded[0].body else { panic!("the first one stays") };
    assert_eq!(*content, [Content::text("one")]);
    assert_eq!(store.load("other").await.unwrap().len(), 1);
    assert!(store.load("nowhere").await.unwrap().is_empty());
}

#[tokio::test]
async fn every_store_has_keys_of_its_own_and_a_new_one_signs_first() {
    let (one, other) = (MemoryStore::new(), MemoryStore::new());
    let exposed = async |store: &MemoryStore| {
        let keys = store.signing_keys().await.unwrap();
        assert!(keys.iter().all(|key| !format!("{store:?} {key:?}").contains(key.expose())));
        keys.iter().map(|key| key.expose().to_owned()).collect::<Vec<String>>()
    };
    let first = exposed(&one).await;
    assert_eq!((first.len(), exposed(&one).await), (1, first.clone()));
    assert_ne!(first, exposed(&other).await);
    assert!(first[0].len() >= 32);
    one.rotate_signing_key(2).await.unwrap();
    let rotated = exposed(&one).await;
    assert_eq!((rotated.len(), &rotated[1]), (2, &first[0]));
    one.rotate_signing_key(2).await.unwrap();
    assert_eq!(exposed(&one).await[1], rotated[0], "the oldest is removed");
}

/// A store that fails once: at one of its appends, before or after it was stored.
struct Failing {
    kept: Arc<MemoryStore>,
    left: AtomicUsize,
    after: bool,
}

impl Store for Failing {
    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        Box::pin(async move {
            if left != 1 || self.after {
                self.kept.append(lease, append).await?;
            }
            match left {
                1 => Err(StoreError::new("the disk is full")),
                _ => Ok(()),
            }
        })
    }

    delegate_store!(|self| self.kept =>
        scope acquire renew release lease_status push_inbox inbox remove_inbox_item list_unattended tail list
        list_by_owner list_older_than delete delete_expired shared_state signing_keys rotate_signing_key
        check_writable);
}

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .calls_all([("write", r#"{"n": 1}"#), ("look", r#"{"n": 2}"#), ("write", r#"{"n": 3}"#)])
        .calls("pay", r#"{"n": 4}"#)
        .replies("Done.")
}

async fn through(chat: &Chat) -> Result<Response, ChatError> {
    let request = chat.message().conversation("room").user("Go!");
    let paused = request.call().await?;
    let decided = paused.pending_approvals().iter().map(|asked| asked.approve());
    let decided = decided.collect();
    paused.submit_approvals(decided).call().await
}

#[tokio::test]
async fn whenever_a_store_fails_no_unrecorded_call_runs_and_the_turn_resumes_from_there() {
    let mut failed = 0;
    for after in [false, true] {
        for at in 1.. {
            let log = Log::default();
            let kept_in = Arc::new(MemoryStore::new());
            let tools = || vec![write(&log), read_tool(&log), pay(&log)];
            let store = Failing { kept: Arc::clone(&kept_in), left: AtomicUsize::new(at), after };
            let chat = builder(model(), tools()).store(store).build();
            let Err(error) = through(&chat).await else {
                assert!(at > 10, "there are that many appends: {at}");
                break;
            };
            failed += 1;
            assert_eq!(
                error.to_string(),
                "the conversation cannot be kept: the disk is full",
                "append {at}"
            );
            let entries = stored_entries(&kept_in, "room").await;
            assert_complete(&entries);
            let started =
                entries.iter().filter(|it| matches!(it.body, EntryBody::CallStarted { .. }));
            assert!(log.lines().len() <= started.count(), "append {at}");
            // The turn resumes: no call with an effect runs twice.
            let healed = builder(ScriptedModel::new().replies("Again."), tools());
            let healed = healed.store(Arc::clone(&kept_in)).build();
            if !entries.is_empty() {
                healed.resume("room").call().await.unwrap();
            }
            let mut lines = log.lines();
            lines.retain(|line| line != "look 2");
            let all = lines.len();
            lines.sort();
            lines.dedup();
            assert_eq!(lines.len(), all, "append {at}: {lines:?}");
            assert_complete(&stored_entries(&kept_in, "room").await);
        }
    }
    assert!(failed > 20, "{failed}");
}

/// A store that records the kinds of the entries of each append, and whether it is durable.
#[derive(Default)]
struct Recording {
    kept: MemoryStore,
    appends: Mutex<Vec<(String, bool)>>,
}

impl Store for Recording {
    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        let kind = |entry: &Entry| {
            let entry = serde_json::to_value(entry).unwrap();
            entry["what"].as_object().unwrap().keys().next().unwrap().clone()
        };
        let kinds: Vec<String> = append.entries.iter().map(kind).collect();
        self.appends.lock().unwrap().push((kinds.join(" "), append.durable));
        self.kept.append(lease, append)
    }

    delegate_store!(|self| self.kept =>
        scope acquire renew release lease_status push_inbox inbox remove_inbox_item list_unattended tail list
        list_by_owner list_older_than delete delete_expired shared_state signing_keys rotate_signing_key
        check_writable);
}

#[tokio::test]
async fn an_append_is_durable_where_something_acknowledged_or_an_effect_depends_on_it() {
    let item = InboxItem::new("message", 0, InboxBody::Stop);
    for (tool, item, durable) in [
        ("look", None, [true, false, false, true]),
        ("write", None, [true, true, true, true]),
        // The message is still in the inbox if its append is lost.
        ("look", Some(item), [false, false, false, true]),
    ] {
        let log = Log::default();
        let store = Arc::new(Recording::default());
        let model = ScriptedModel::new().calls(tool, r#"{"n": 1}"#).replies("Done.");
        let chat = builder(model, vec![write(&log), read_tool(&log)]);
        let chat = chat.store(Arc::clone(&store)).build();
        let mut request = chat.message().conversation("room").user("Go!");
        if let Some(mut item) = item {
            item.position = store.push_inbox("room", &item, 1).await.unwrap().unwrap();
            request = request.inbox_item(item);
        }
        request.call().await.unwrap();
        let kinds = ["user", "step started", "finished", "step ended"];
        let expected: Vec<(String, bool)> =
            kinds.map(str::to_owned).into_iter().zip(durable).collect();
        assert_eq!(*store.appends.lock().unwrap(), expected, "{tool}");
        assert!(store.inbox("room").await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_an_error_before_anything_is_asked() {
    struct Unreadable(MemoryStore);
    impl Store for Unreadable {
        fn append<'a>(&'a self, _: &'a Lease, _: Append<'a>) -> StoreFuture<'a, ()> {
            panic!("nothing was read")
        }
        fn tail<'a>(&'a self, _: &'a str, _: TailEnd<'a>, _: usize) -> StoreFuture<'a, Vec<Entry>> {
            Box::pin(async { Err(StoreError::new("locked").with_source("by another program")) })
        }
        delegate_store!(|self| self.0 =>
            scope acquire renew release lease_status push_inbox inbox remove_inbox_item list_unattended list list_by_owner
            list_older_than delete delete_expired shared_state signing_keys rotate_signing_key check_writable);
    }
    let model = ScriptedModel::new();
    let chat = builder(model.clone(), none()).store(Unreadable(MemoryStore::new())).build();
    let error = chat.message().conversation("room").user("?").call().await.unwrap_err();
    assert!(matches!(error, ChatError::Store(_)));
    assert!(std::error::Error::source(&error).is_some());
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_turn_that_is_read_again_decides_the_same() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let chat = builder(model(), vec![write(&log), read_tool(&log), pay(&log)]);
    let chat = chat.store(Arc::clone(&store)).build();
    through(&chat).await.unwrap();
    let entries = stored_entries(&store, "room").await;
    assert!(entries.len() > 12);
    let (mut live, mut read) = (Turn::new(TurnLimits::default()), Turn::new(TurnLimits::default()));
    for entry in &entries {
        let json = serde_json::to_string(entry).unwrap();
        let again: Entry = serde_json::from_str(&json).unwrap();
        live.apply(entry);
        read.apply(&again);
        assert_eq!(live.next_action(entry.at), read.next_action(entry.at), "{json}");
        assert_eq!(live.usage(), read.usage());
        assert_eq!(live.deadline(), read.deadline());
    }
}
