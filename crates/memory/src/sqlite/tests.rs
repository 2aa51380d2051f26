//! What needs a look behind the store: a disk that is full, and tables that are brought up to date.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use toolwright_chat::testing::ScriptedModel;
use toolwright_chat::{Chat, ChatError, What};
use toolwright_core::{Content, Invoker, Registry};

use super::*;

const LONG: Duration = Duration::from_secs(600);

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("journals.db");
    (directory, file)
}

/// A store on a disk that has room for so many pages.
async fn small(file: &Path, pages: &'static str) -> SqliteStore {
    let limited = |options: SqliteConnectOptions| options.pragma("max_page_count", pages);
    SqliteStore::open_as(file, limited).await.unwrap()
}

fn said(id: String, text: &str) -> Entry {
    let content = vec![Content::text(text)];
    Entry::new(id, 1, What::User { content })
}

#[tokio::test]
async fn a_full_disk_is_a_clear_error_and_nothing_is_half_written() {
    let (_directory, file) = place();
    let store = small(&file, "30").await;
    let (room, other) = (Lease::new("room", "me"), Lease::new("other", "me"));
    for lease in [&room, &other] {
        assert!(store.lease(lease, LONG).await.unwrap());
    }
    store
        .append(&other, &[said("a".into(), "here")])
        .await
        .unwrap();
    // Each entry fits; not all of them do.
    let batch: Vec<Entry> = (0..200)
        .map(|n| said(format!("{n}"), &"x".repeat(900)))
        .collect();
    for _ in 0..3 {
        let error = store.append(&room, &batch).await.unwrap_err().to_string();
        assert!(
            error.contains("journals.db` does not fit on its disk: make room"),
            "{error}"
        );
        assert!(store.load("room").await.unwrap().is_empty());
        // Others are read, and written where there is room.
        assert_eq!(store.list(9).await.unwrap().len(), 1);
    }
    store
        .append(&other, &[said("b".into(), "and there")])
        .await
        .unwrap();
    assert_eq!(store.load("other").await.unwrap().len(), 2);
    // Somebody has made room.
    let store = SqliteStore::open(&file).await.unwrap();
    store.append(&room, &batch).await.unwrap();
    assert_eq!(store.load("room").await.unwrap().len(), 200);
}

#[tokio::test]
async fn a_store_on_a_full_disk_takes_on_no_new_work() {
    let (_directory, file) = place();
    let roomy = SqliteStore::open(&file).await.unwrap();
    roomy.check_writable().await.unwrap();
    let room = Lease::new("room", "me");
    assert!(roomy.lease(&room, LONG).await.unwrap());
    let fill = said("a".into(), &"x".repeat(20_000));
    roomy.append(&room, &[fill]).await.unwrap();
    // Not a page more than there are.
    let full = small(&file, "1").await;
    for _ in 0..2 {
        let error = full.check_writable().await.unwrap_err().to_string();
        assert!(error.contains("does not fit on its disk"), "{error}");
    }
    assert_eq!(full.list(9).await.unwrap().len(), 1, "it can still be read");
    roomy.check_writable().await.unwrap();
    assert_eq!(roomy.load("room").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_turn_that_meets_a_full_disk_goes_on_when_there_is_room() {
    let (_directory, file) = place();
    let store = Arc::new(small(&file, "30").await);
    let registry = Registry::new();
    let invoker = Invoker::new(&registry).unwrap();
    let chat = |model: ScriptedModel, store: Arc<SqliteStore>| {
        Chat::builder(model, &invoker).store(store).build()
    };
    let model = ScriptedModel::new()
        .says("x".repeat(200_000))
        .says("Short.");
    let first = chat(model, Arc::clone(&store));
    let ask = first
        .prompt()
        .conversation("room")
        .user("Tell me everything!");
    let error = ask.call().await.unwrap_err();
    assert!(matches!(error, ChatError::Store(_)), "{error:?}");
    assert!(
        error.to_string().contains("does not fit on its disk"),
        "{error}"
    );
    let elsewhere = first.prompt().conversation("other").user("And you?");
    assert_eq!(elsewhere.call().await.unwrap().text(), "Short.");
    let kept = store.load("room").await.unwrap();
    assert_eq!(
        kept.len(),
        1,
        "the question is there, nothing of the answer"
    );
    let roomy = Arc::new(SqliteStore::open(&file).await.unwrap());
    let again = chat(ScriptedModel::new().says("Again."), roomy);
    let done = again.resume("room").call().await.unwrap();
    assert_eq!(done.text(), "Again.");
}

#[tokio::test]
async fn steps_are_taken_forward_all_of_them_or_none() {
    const MORE: &[&str] = &[
        schema::STEPS[0],
        schema::STEPS[1],
        "CREATE TABLE second (a TEXT) STRICT",
    ];
    const BROKEN: &[&str] = &[
        schema::STEPS[0],
        schema::STEPS[1],
        "CREATE TABLE second (a TEXT) STRICT",
        "CREATE TABLE third (a TEXT) STRICT; CREATE TABLE entries (a TEXT)",
    ];
    let (_directory, file) = place();
    let store = SqliteStore::open(&file).await.unwrap();
    let room = Lease::new("room", "me");
    assert!(store.lease(&room, LONG).await.unwrap());
    store
        .append(&room, &[said("a".into(), "here")])
        .await
        .unwrap();
    let options = SqliteConnectOptions::new().filename(&file);
    assert!(schema::bring(&file, &options, BROKEN).await.is_err());
    let tables = async || {
        let query = "SELECT count(*) FROM sqlite_schema WHERE name IN ('second', 'third')";
        let row = sqlx::query(query).fetch_one(&store.writer).await.unwrap();
        row.get::<i64, _>(0)
    };
    assert_eq!(tables().await, 0);
    for _ in 0..2 {
        assert!(schema::bring(&file, &options, MORE).await.is_ok());
        assert_eq!(tables().await, 1);
    }
    // Who was there before goes on; who starts now and is older does not.
    assert_eq!(store.load("room").await.unwrap().len(), 1);
    let error = SqliteStore::open(&file).await.unwrap_err().to_string();
    assert!(
        error.contains("version 3, and") && error.contains("up to version 2:"),
        "{error}"
    );
}
