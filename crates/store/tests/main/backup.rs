//! Backups of both kinds of stores, and their restoration into both.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use toolwright::chat::{Append, Store, TurnStatus};
use toolwright_store::{SqliteStore, backup, restore, verify};

use crate::backend::Backend;
use crate::fixtures::{
    LONG, acquire, acquire_as, append, encode, inbox_message, numbered_entries, user_entry,
};

/// The stores that can be copied; without PostgreSQL where that is not installed.
async fn backends() -> Vec<Backend> {
    let backends = [Some(Backend::sqlite()), Backend::postgres().await];
    backends.into_iter().flatten().collect()
}

fn temporary_path() -> (TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("backup.db");
    (directory, file)
}

/// Fills a store; the lease of `held` is not released.
async fn fill(store: &dyn Store) {
    append(store, "over", &numbered_entries(0, 3)).await;
    append(store, "\0 odd \u{202e}", &numbered_entries(0, 1)).await;
    let held = acquire(store, "held").await;
    let entries = numbered_entries(5, 1);
    store.append(&held, Append::new(&entries).turn(TurnStatus::Paused)).await.unwrap();
    for (n, name) in ["held", "held", "waiting"].into_iter().enumerate() {
        let item = inbox_message(&n.to_string(), "Hi").with_peer(Some("\0".to_owned()));
        store.push_inbox(name, &item, 9).await.unwrap().unwrap();
    }
    let removed = acquire(store, "removed").await;
    store.release(&acquire(store, "removed").await).await.unwrap();
    store.release(&removed).await.unwrap();
    store.rotate_signing_key(5).await.unwrap();
    store.rotate_signing_key(5).await.unwrap();
    let shared = store.shared_state();
    shared.put("pin", "\0", "{\0}", None).await.unwrap();
    shared.put("session", "a", "secret", Some(LONG)).await.unwrap();
    shared.count("calls", "a", 1, 9, LONG).await.unwrap();
}

/// Everything that a store returns, but leases and terms.
async fn content(store: &dyn Store) -> String {
    let mut content = format!("{:?}\n", store.list(99).await.unwrap());
    for name in ["over", "\0 odd \u{202e}", "held", "waiting", "removed"] {
        let entries = encode(&store.load(name).await.unwrap());
        content += &format!("{entries:?} {:?}\n", store.inbox(name).await.unwrap());
    }
    let keys = store.signing_keys().await.unwrap();
    let keys: Vec<&str> = keys.iter().map(|key| key.expose()).collect();
    let pins = store.shared_state().list("pin", "", 9).await.unwrap();
    content + &keys.join("\n") + &format!("{pins:?}")
}

#[tokio::test]
async fn a_backup_of_any_store_is_restored_into_any_store() {
    for from in backends().await {
        let store = from.open().await;
        fill(&store).await;
        let (_directory, file) = temporary_path();
        backup(&from.url(), &file).await.unwrap();
        let expected = content(&store).await;
        // The file is itself a store.
        let copy = SqliteStore::open(&file).await.unwrap();
        assert_eq!(content(&copy).await, expected);
        assert!(acquire_as(&copy, "held", "another").await.is_some(), "it has no leases");
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"secret"), "it has no sessions");
        for to in backends().await {
            restore(&file, &to.url()).await.unwrap();
            let restored = to.open().await;
            assert_eq!(content(&restored).await, expected);
            let shared = restored.shared_state();
            assert_eq!(shared.list("pin", "", 9).await.unwrap().len(), 1);
            assert!(shared.list("session", "", 9).await.unwrap().is_empty());
            assert_eq!(shared.count("calls", "a", 0, 9, LONG).await.unwrap().total, 0);
            for name in ["over", "held", "waiting", "removed", "new"] {
                let (before, after) =
                    (store.lease_status(name).await, restored.lease_status(name).await);
                assert!(after.unwrap().term > before.unwrap().term + 1_000, "{name}");
            }
            // It goes on where the backup was made.
            append(&restored, "over", &numbered_entries(3, 2)).await;
            assert_eq!(
                encode(&restored.load("over").await.unwrap()),
                encode(&numbered_entries(0, 5))
            );
            let pushed = restored.push_inbox("held", &inbox_message("9", ""), 9).await.unwrap();
            assert_eq!(pushed, Some(3));
            assert_eq!(restored.list_unattended(9).await.unwrap().len(), 4);
            let report = verify(&to.url()).await.unwrap();
            assert_eq!(report.problems, []);
        }
    }
}

#[tokio::test]
async fn a_backup_is_restored_into_an_empty_store_only() {
    for to in backends().await {
        let (_directory, file) = temporary_path();
        let from = Backend::sqlite();
        append(&from.open().await, "room", &numbered_entries(0, 3)).await;
        backup(&from.url(), &file).await.unwrap();
        let store = to.open().await;
        append(&store, "room", &numbered_entries(7, 1)).await;
        let error = restore(&file, &to.url()).await.unwrap_err().to_string();
        assert!(error.contains("into an empty store only"), "{error}");
        assert_eq!(store.load("room").await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_backup_is_for_its_owner_only_and_replaces_no_file() {
    use std::os::unix::fs::PermissionsExt as _;
    for from in backends().await {
        fill(&from.open().await).await;
        let (directory, file) = temporary_path();
        backup(&from.url(), &file).await.unwrap();
        let files: Vec<_> = directory.path().read_dir().unwrap().collect();
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let before = std::fs::read(&file).unwrap();
        let error = backup(&from.url(), &file).await.unwrap_err().to_string();
        assert!(error.contains("exists already"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}

#[tokio::test]
async fn a_backup_that_fails_leaves_no_file() {
    let (directory, file) = temporary_path();
    let missing = format!("sqlite:{}", directory.path().join("missing.db").display());
    backup(&missing, &file).await.unwrap_err();
    restore(Path::new("missing.db"), &missing).await.unwrap_err();
    for error in [backup("memory:", &file).await, verify("memory:").await.map(drop)] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains("a store in memory"), "{error}");
    }
    assert!(directory.path().read_dir().unwrap().next().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_of_one_moment_while_others_write() {
    for from in backends().await {
        let store = from.open().await;
        let writers = (0..3).map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let name = format!("room {writer}");
                let lease = acquire(&store, &name).await;
                for n in 0..150 {
                    let id = format!("item {n}");
                    let position = store.push_inbox(&name, &inbox_message(&id, ""), 9).await;
                    let position = position.unwrap().unwrap();
                    // The item and its entry are never there both, nor is neither.
                    let entries = [user_entry(id, 1, "")];
                    let append = Append::new(&entries).taking(std::slice::from_ref(&position));
                    store.append(&lease, append.durable(n % 2 == 0)).await.unwrap();
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        for _ in 0..4 {
            let (_directory, file) = temporary_path();
            let (url, target) = (from.url(), file.clone());
            tokio::spawn(async move { backup(&url, &target).await }).await.unwrap().unwrap();
            let report = verify(&format!("sqlite:{}", file.display())).await.unwrap();
            assert_eq!(report.problems, []);
            let copy = SqliteStore::open(&file).await.unwrap();
            for writer in 0..3 {
                let name = format!("room {writer}");
                let entries = copy.load(&name).await.unwrap();
                let ids = entries.into_iter().map(|entry| entry.id);
                let items = copy.inbox(&name).await.unwrap().into_iter().map(|item| item.id);
                let all: Vec<String> = ids.chain(items).collect();
                let expected: Vec<String> = (0..all.len()).map(|n| format!("item {n}")).collect();
                assert_eq!(all, expected);
            }
        }
        for writer in writers {
            writer.await.unwrap();
        }
        assert_eq!(verify(&from.url()).await.unwrap().entries, 450);
    }
}
