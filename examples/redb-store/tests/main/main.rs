//! The conformance suite of the stores, over redb; and what a crash of the machine leaves.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod power_loss;

use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use redb_store::RedbStore;
use test_support_store::{Backend, store_conformance};
use toolwright::chat::{Store, StoreScope};

/// A file, which is opened once.
struct File {
    directory: tempfile::TempDir,
    store: OnceLock<Arc<RedbStore>>,
}

impl File {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), store: OnceLock::new() }
    }

    fn open_file(&self) -> Result<RedbStore, toolwright::chat::StoreError> {
        RedbStore::open(self.directory.path().join("conversations.redb"))
    }
}

impl Backend for File {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        let store = self.store.get_or_init(|| Arc::new(self.open_file().unwrap()));
        Box::pin(async move { Arc::clone(store) as Arc<dyn Store> })
    }
}

mod conformance {
    use super::*;
    store_conformance!(async { Some(File::new()) });
}

#[tokio::test]
async fn a_file_is_open_in_one_process_at_a_time_and_says_so() {
    let file = File::new();
    let store = file.open_file().unwrap();
    assert_eq!(store.scope(), StoreScope::Process);
    let error = file.open_file().err().unwrap().to_string();
    assert!(error.contains("is open in another process"), "{error}");
    drop(store);
    file.open_file().unwrap();
}

#[tokio::test]
async fn what_was_stored_is_there_when_the_file_is_opened_again() {
    use test_support_store::fixtures::{LONG, append, ids, inbox_message, numbered_entries};
    let file = File::new();
    let (mut term, mut keys) = (0, Vec::new());
    for round in 0..3 {
        let store: Arc<dyn Store> = Arc::new(file.open_file().unwrap());
        let found = store.load("room").await.unwrap();
        assert_eq!(ids(&found).len(), 2 * round);
        assert_eq!(store.inbox("room").await.unwrap().len(), round);
        let pin = store.shared_state().get("pin", "a").await.unwrap();
        assert_eq!(pin, (round > 0).then(|| (round - 1).to_string()));
        // The leases of the process before are free, and terms go on.
        append(&store, "room", &numbered_entries(2 * round, 2)).await;
        let lease = store.acquire("room", "me", LONG).await.unwrap().unwrap();
        assert!(lease.term > term);
        term = lease.term;
        store.push_inbox("room", &inbox_message(&format!("m{round}"), "Hi"), 9).await.unwrap();
        store.shared_state().put("pin", "a", &round.to_string(), None).await.unwrap();
        let first = store.signing_keys().await.unwrap().remove(0).expose().to_owned();
        keys.push(first);
    }
    keys.dedup();
    assert_eq!(keys.len(), 1);
}
