//! Tests of the SQLite store's file: permissions, durability, sharing and unusable files.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};
use tempfile::TempDir;
use toolwright::chat::{Append, Store as _};
use toolwright_store::SqliteStore;

use crate::fixtures::{acquire, acquire_as, append, encode, numbered_entries, user_entry};

mod leases;
mod unusable_files;

fn temporary_file() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("journals.db");
    (directory, file)
}

/// Returns the message of the error when a file is opened.
async fn open_error(file: &Path) -> String {
    let error = SqliteStore::open(file).await.expect_err("it cannot be opened");
    assert!(!error.to_string().contains("sqlx"), "{error}");
    error.to_string()
}

pub(crate) async fn connect(file: &Path) -> SqliteConnection {
    let url = format!("sqlite:{}?mode=rwc", file.display());
    SqliteConnection::connect(&url).await.unwrap()
}

pub(crate) async fn execute(file: &Path, sql: &str) {
    let mut connection = connect(file).await;
    let sql = AssertSqlSafe(sql.to_owned());
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn count_rows(file: &Path, table: &str) -> i64 {
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query_scalar(sql).fetch_one(&mut connect(file).await).await.unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("a").join("b");
    let file = folder.join("journals.db");
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &numbered_entries(0, 3)).await;
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let mut files = 0;
    for file in folder.read_dir().unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files >= 2, "the file and its log: {files}");
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(folder.parent().unwrap()), 0o700);
}

#[tokio::test]
async fn an_entry_is_stored_as_its_json_text() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let entries = numbered_entries(0, 3);
    append(&store, "room", &entries).await;
    let rows = sqlx::query("SELECT entry FROM entries ORDER BY seq");
    let rows = rows.fetch_all(&mut connect(&file).await).await.unwrap();
    let stored: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(stored, encode(&entries));
}

#[tokio::test]
async fn an_entry_is_on_the_disk_when_the_append_returns() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &numbered_entries(0, 1)).await;
    let mut connection = connect(&file).await;
    let mode = sqlx::query("PRAGMA journal_mode").fetch_one(&mut connection);
    assert_eq!(mode.await.unwrap().get::<String, _>(0), "wal");
    // A copy of the files, which is what a crash would leave, contains the entry.
    let copy = file.with_file_name("copy.db");
    std::fs::copy(&file, &copy).unwrap();
    let log = |file: &Path| file.with_extension("db-wal");
    std::fs::copy(log(&file), log(&copy)).unwrap();
    let copied = SqliteStore::open(&copy).await.unwrap();
    assert_eq!(copied.load("room").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_deleted_conversation_is_overwritten() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &[user_entry("a", 1, "a secret of the user")]).await;
    let room = acquire(&store, "room").await;
    assert!(store.delete(&room).await.unwrap());
    for file in file.parent().unwrap().read_dir().unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let there = bytes.windows(6).any(|bytes| bytes == b"secret");
        assert!(!there, "{}", path.display());
    }
}

#[tokio::test]
async fn many_tasks_create_the_same_file_at_the_same_time() {
    let (_directory, file) = temporary_file();
    let tasks = (0..8).map(|n| {
        let file = file.clone();
        tokio::spawn(async move {
            let store = SqliteStore::open(&file).await.unwrap();
            append(&store, &format!("room {n}"), &numbered_entries(0, 5)).await;
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let store = SqliteStore::open(&file).await.unwrap();
    assert_eq!(store.list(99).await.unwrap().len(), 8);
}

#[tokio::test]
async fn tables_of_a_newer_version_are_refused_and_stay_as_they_are() {
    let (_directory, file) = temporary_file();
    drop(SqliteStore::open(&file).await.unwrap());
    execute(&file, "PRAGMA user_version = 99; UPDATE meta SET oldest_reader = 7").await;
    let error = open_error(&file).await;
    assert!(error.contains("has tables of version 99"), "{error}");
    assert!(error.contains("up to version 6:"), "{error}");
    // Unless they allow it.
    execute(&file, "UPDATE meta SET oldest_reader = 6").await;
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &numbered_entries(0, 1)).await;
    let version = sqlx::query("PRAGMA user_version").fetch_one(&mut connect(&file).await).await;
    assert_eq!(version.unwrap().get::<i64, _>(0), 99);
}

#[tokio::test]
async fn tables_of_a_development_version_are_refused_and_stay_as_they_are() {
    let (_directory, file) = temporary_file();
    // As `Tool` in the header of a file.
    let marked = "PRAGMA application_id = 1416589164; PRAGMA user_version = 4";
    execute(&file, &format!("CREATE TABLE conversations (name TEXT); {marked}")).await;
    let before = std::fs::read(&file).unwrap();
    let error = open_error(&file).await;
    assert!(
        error.contains("journals.db` has tables of version 4, which only development"),
        "{error}"
    );
    assert!(error.contains("`toolwright conversations export`"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn the_database_of_another_program_is_left_alone() {
    let (_directory, file) = temporary_file();
    execute(&file, "CREATE TABLE bookmarks (url TEXT)").await;
    let before = std::fs::read(&file).unwrap();
    let error = open_error(&file).await;
    assert!(error.contains("is the database of another program"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn a_file_is_shared_with_another_process() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &numbered_entries(0, 2)).await;
    let test = std::env::current_exe().unwrap();
    let other = Command::new(test)
        .args(["--exact", "sqlite::another_process"])
        .env("TOOLWRIGHT_TEST_FILE", &file)
        .output()
        .unwrap();
    assert!(other.status.success(), "{}", String::from_utf8_lossy(&other.stdout));
    assert_eq!(store.load("room").await.unwrap().len(), 4);
}

/// Run by the test above, as another process; by itself it does nothing.
#[tokio::test]
async fn another_process() {
    let Some(file) = std::env::var_os("TOOLWRIGHT_TEST_FILE") else {
        return;
    };
    let store = SqliteStore::open(&file).await.unwrap();
    assert_eq!(store.load("room").await.unwrap().len(), 2);
    append(&store, "room", &numbered_entries(2, 2)).await;
}

/// Waits until another process has printed a line that contains a text.
fn wait_for_line(child: &mut std::process::Child, text: &str) {
    let output = std::io::BufReader::new(child.stdout.as_mut().unwrap());
    let printed = output.lines().any(|line| line.unwrap().contains(text));
    assert!(printed, "it never printed `{text}`");
}

#[tokio::test]
async fn the_lease_of_a_process_that_is_gone_is_free_at_once() {
    let (directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::a_process_that_dies", "--nocapture"])
        .env("TOOLWRIGHT_TEST_FILE", &file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_line(&mut other, "acquired");
    assert!(acquire_as(&store, "room", "me").await.is_none(), "it still runs");
    assert!(store.list_unattended(9).await.unwrap().is_empty());
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(store.list_unattended(9).await.unwrap(), ["room"]);
    let mine = acquire(&store, "room").await;
    assert_eq!(mine.term, 2);
    store.append(&mine, Append::new(&numbered_entries(0, 1))).await.unwrap();
    drop(store);
    // The lock files of processes that are gone are removed.
    drop(SqliteStore::open(&file).await.unwrap());
    for file in directory.path().read_dir().unwrap() {
        let name = file.unwrap().file_name();
        assert!(!name.to_string_lossy().contains("alive"), "{name:?}");
    }
}

/// Run by the test above, as another process; by itself it does nothing.
#[tokio::test]
async fn a_process_that_dies() {
    let Some(file) = std::env::var_os("TOOLWRIGHT_TEST_FILE") else {
        return;
    };
    let store = SqliteStore::open(&file).await.unwrap();
    let lease = acquire_as(&store, "room", "the other").await.unwrap();
    store.append(&lease, Append::new(&numbered_entries(7, 1))).await.unwrap();
    println!("acquired");
    // Blocks until it is killed.
    let _ = std::io::stdin().read_line(&mut String::new());
}
