//! Tests that need the private parts of the store: full disks, and migrations.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use toolwright_chat::{Chat, ChatError, EntryBody};
use toolwright_core::{Content, Invoker, Registry};
use toolwright_testing::ScriptedModel;

use super::*;

const LONG: Duration = Duration::from_secs(600);

fn temporary_file() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("journals.db");
    (directory, file)
}

/// A store whose file can grow to this number of pages, as on a full disk.
async fn store_of_pages(file: &Path, pages: &'static str) -> SqliteStore {
    let limited = |options: SqliteConnectOptions| options.pragma("max_page_count", pages);
    SqliteStore::open_with(file, schema::MIGRATIONS, limited).await.unwrap()
}

async fn acquire(store: &SqliteStore, conversation: &str) -> Lease {
    store.acquire(conversation, "me", LONG).await.unwrap().unwrap()
}

fn user_entry(id: String, text: &str) -> Entry {
    let content = vec![Content::text(text)];
    Entry::new(id, 1, EntryBody::User { content })
}

#[tokio::test]
async fn a_full_disk_is_a_clear_error_and_nothing_is_half_written() {
    let (_directory, file) = temporary_file();
    let store = store_of_pages(&file, "30").await;
    let (room, other) = (acquire(&store, "room").await, acquire(&store, "other").await);
    store.append(&other, Append::new(&[user_entry("a".into(), "here")])).await.unwrap();
    // Each entry fits; not all of them do.
    let batch: Vec<Entry> =
        (0..200).map(|n| user_entry(format!("{n}"), &"x".repeat(900))).collect();
    for _ in 0..3 {
        let error = store.append(&room, Append::new(&batch)).await.unwrap_err().to_string();
        assert!(error.contains("journals.db` does not fit on its disk: make room"), "{error}");
        assert!(store.load("room").await.unwrap().is_empty());
        // Others are read, and written where there is room.
        assert_eq!(store.list(9).await.unwrap().len(), 1);
    }
    store.append(&other, Append::new(&[user_entry("b".into(), "and there")])).await.unwrap();
    assert_eq!(store.load("other").await.unwrap().len(), 2);
    // Without the limit, as after space was freed.
    let store = SqliteStore::open(&file).await.unwrap();
    store.append(&room, Append::new(&batch)).await.unwrap();
    assert_eq!(store.load("room").await.unwrap().len(), 200);
}

#[tokio::test]
async fn a_store_on_a_full_disk_refuses_new_work() {
    let (_directory, file) = temporary_file();
    let unlimited = SqliteStore::open(&file).await.unwrap();
    unlimited.check_writable().await.unwrap();
    let room = acquire(&unlimited, "room").await;
    let fill = user_entry("a".into(), &"x".repeat(20_000));
    unlimited.append(&room, Append::new(&[fill])).await.unwrap();
    // The file cannot grow.
    let full = store_of_pages(&file, "1").await;
    for _ in 0..2 {
        let error = full.check_writable().await.unwrap_err().to_string();
        assert!(error.contains("does not fit on its disk"), "{error}");
    }
    assert_eq!(full.list(9).await.unwrap().len(), 1, "it can still be read");
    unlimited.check_writable().await.unwrap();
    assert_eq!(unlimited.load("room").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_turn_that_failed_on_a_full_disk_resumes_when_there_is_space() {
    let (_directory, file) = temporary_file();
    let store = Arc::new(store_of_pages(&file, "30").await);
    let registry = Registry::new();
    let invoker = Invoker::new(&registry).unwrap();
    let chat = |model: ScriptedModel, store: Arc<SqliteStore>| {
        Chat::builder(&invoker, model).store(store).build()
    };
    let model = ScriptedModel::new().replies("x".repeat(200_000)).replies("Short.");
    let first = chat(model, Arc::clone(&store));
    let request = first.message().conversation("room").user("List everything!");
    let error = request.call().await.unwrap_err();
    assert!(matches!(error, ChatError::Store(_)), "{error:?}");
    assert!(error.to_string().contains("does not fit on its disk"), "{error}");
    let elsewhere = first.message().conversation("other").user("And you?");
    assert_eq!(elsewhere.call().await.unwrap().text(), "Short.");
    let stored = store.load("room").await.unwrap();
    assert_eq!(stored.len(), 1, "the user's message is stored, nothing of the answer");
    let unlimited = Arc::new(SqliteStore::open(&file).await.unwrap());
    let again = chat(ScriptedModel::new().replies("Again."), unlimited);
    let done = again.resume("room").call().await.unwrap();
    assert_eq!(done.text(), "Again.");
}

#[tokio::test]
async fn only_durable_appends_are_synced() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let room = acquire(&store, "room").await;
    // 1 is `NORMAL`, 2 is `FULL`.
    let synchronous = async || -> i64 {
        let mut connection = store.writer.pool.acquire().await.unwrap();
        let query = sqlx::query_scalar("PRAGMA synchronous");
        query.fetch_one(&mut *connection).await.unwrap()
    };
    assert_eq!(synchronous().await, 2);
    for (n, durable) in [false, false, true, false, true, true].into_iter().enumerate() {
        let entries = [user_entry(n.to_string(), "")];
        store.append(&room, Append::new(&entries).durable(durable)).await.unwrap();
        assert_eq!(synchronous().await, if durable { 2 } else { 1 }, "{n}");
    }
    assert!(store.renew(&room, LONG).await.unwrap());
    assert_eq!(synchronous().await, 1);
    acquire(&store, "room").await;
    assert_eq!(synchronous().await, 2);
}

#[tokio::test]
async fn unattended_conversations_are_found_by_indexes() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let query = format!("EXPLAIN QUERY PLAN {}", lease::UNATTENDED);
    let plan = sqlx::query(sqlx::AssertSqlSafe(query)).fetch_all(&store.readers).await.unwrap();
    let plan: Vec<String> = plan.iter().map(|row| row.get("detail")).collect();
    let scans = plan.iter().filter(|step| step.starts_with("SCAN")).collect::<Vec<_>>();
    assert!(
        scans.iter().all(|step| step.contains("inbox") || step.contains("running")),
        "{plan:?}"
    );
}

/// A made-up step of the next version: programs of this one may use its tables.
const NEXT: &str = "
    CREATE TABLE second (a TEXT) STRICT;
    ALTER TABLE entries ADD COLUMN note TEXT;
";
const NEXT_MIGRATIONS: &[&str] = &[schema::MIGRATIONS[0], NEXT];

#[tokio::test]
async fn migration_steps_are_applied_all_or_none() {
    const INCOMPATIBLE: &[&str] =
        &[schema::MIGRATIONS[0], NEXT, "UPDATE meta SET oldest_reader = 8"];
    const BROKEN: &[&str] = &[
        schema::MIGRATIONS[0],
        NEXT,
        "CREATE TABLE third (a TEXT) STRICT; CREATE TABLE entries (a TEXT)",
    ];
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let room = acquire(&store, "room").await;
    store.append(&room, Append::new(&[user_entry("a".into(), "here")])).await.unwrap();
    let options = SqliteConnectOptions::new().filename(&file);
    assert!(schema::migrate(&file, &options, BROKEN).await.is_err());
    let tables = async || {
        let query = "SELECT count(*) FROM sqlite_schema WHERE name IN ('second', 'third')";
        let row = sqlx::query(query).fetch_one(&store.readers).await.unwrap();
        row.get::<i64, _>(0)
    };
    assert_eq!(tables().await, 0);
    for _ in 0..2 {
        assert!(schema::migrate(&file, &options, INCOMPATIBLE).await.is_ok());
        assert_eq!(tables().await, 1);
    }
    // A store that is open continues to work; an older version cannot open the file any more.
    assert_eq!(store.load("room").await.unwrap().len(), 1);
    let error = SqliteStore::open(&file).await.unwrap_err().to_string();
    assert!(error.contains("version 8, and") && error.contains("up to version 6:"), "{error}");
}

#[tokio::test]
async fn a_process_of_the_version_before_goes_on_while_a_newer_one_migrates() {
    let (_directory, file) = temporary_file();
    let append = async |store: &SqliteStore, id: &str| {
        let room = acquire(store, "room").await;
        store.append(&room, Append::new(&[user_entry(id.into(), "here")])).await.unwrap();
        store.release(&room).await.unwrap();
        store.load("room").await.unwrap().len()
    };
    let old = SqliteStore::open(&file).await.unwrap();
    assert_eq!(append(&old, "1").await, 1);
    let new = SqliteStore::open_with(&file, NEXT_MIGRATIONS, |it| it).await.unwrap();
    sqlx::query("SELECT note FROM entries JOIN second").fetch_all(&new.readers).await.unwrap();
    new.shared_state().put("pin", "a", "b", None).await.unwrap();
    assert_eq!(append(&old, "2").await, 2);
    assert_eq!(append(&new, "3").await, 3);
    // It is restarted, as in an upgrade that is rolled back.
    let old = SqliteStore::open(&file).await.unwrap();
    assert_eq!(append(&old, "4").await, 4);
    assert_eq!(append(&new, "5").await, 5);
    assert_eq!(old.shared_state().get("pin", "a").await.unwrap().as_deref(), Some("b"));
}
