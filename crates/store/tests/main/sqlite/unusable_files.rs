//! Files that cannot be used: each has a clear error, and stores of other files are not affected.

use std::process::Command;

use toolwright::chat::{Append, Store as _};
use toolwright_store::SqliteStore;

use super::{execute, open_error, temporary_file};
use crate::fixtures::{acquire, append, numbered_entries};

#[tokio::test]
async fn a_directory_is_refused() {
    let (directory, _) = temporary_file();
    let error = open_error(directory.path()).await;
    assert!(error.ends_with("is a directory: name a file in it"), "{error}");
}

#[tokio::test]
async fn the_error_names_a_directory_that_cannot_be_created() {
    let (_directory, file) = temporary_file();
    std::fs::write(&file, "a file").unwrap();
    let beneath = file.join("deeper").join("journals.db");
    let error = open_error(&beneath).await;
    let expected = format!("the directory `{}` cannot be made", file.join("deeper").display());
    assert!(error.starts_with(&expected), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_not_changed() {
    let (_directory, file) = temporary_file();
    let letter = "Dear Sir or Madam, ".repeat(100);
    std::fs::write(&file, &letter).unwrap();
    let error = open_error(&file).await;
    assert!(error.contains("journals.db` is no database: "), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), letter);
}

#[tokio::test]
async fn a_damaged_file_is_reported_and_other_files_work() {
    let (_directory, file) = temporary_file();
    let (_elsewhere, other) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &numbered_entries(0, 500)).await;
    let other = SqliteStore::open(&other).await.unwrap();
    execute(&file, "PRAGMA wal_checkpoint(TRUNCATE)").await;
    drop(store);
    // All pages but the first, which has the header and the schema.
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[4096..].fill(0xff);
    std::fs::write(&file, &bytes).unwrap();
    let store = SqliteStore::open(&file).await;
    let error = match store {
        Ok(store) => store.load("room").await.unwrap_err(),
        Err(error) => error,
    };
    let error = error.to_string();
    assert!(error.contains("journals.db` is damaged: "), "{error}");
    append(&other, "room", &numbered_entries(0, 5)).await;
}

#[tokio::test]
async fn the_error_for_a_damaged_entry_names_its_conversation_and_others_work() {
    let (_directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &numbered_entries(0, 2)).await;
    append(&store, "other", &numbered_entries(0, 2)).await;
    execute(&file, "UPDATE entries SET entry = '{' WHERE seq = 1").await;
    let error = store.load("room").await.unwrap_err();
    assert!(error.to_string().starts_with("conversation `room` has an entry that cannot be read"));
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(store.load("other").await.unwrap().len(), 2);
    append(&store, "other", &numbered_entries(2, 2)).await;
}

/// Root may write every file, so the check runs in another process as an unprivileged user.
#[cfg(unix)]
#[tokio::test]
async fn a_read_only_file_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, file) = temporary_file();
    let store = SqliteStore::open(&file).await.unwrap();
    append(&store, "room", &numbered_entries(0, 2)).await;
    drop(store);
    let allow = |path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
    for file in directory.path().read_dir().unwrap() {
        allow(file.unwrap().path(), 0o444).unwrap();
    }
    allow(directory.path().to_owned(), 0o555).unwrap();
    // Copied to where the other user can execute it.
    let copied = tempfile::tempdir().unwrap();
    allow(copied.path().to_owned(), 0o755).unwrap();
    let test = copied.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    let id = Command::new("id").arg("-u").output().unwrap();
    let mut command = match id.stdout.trim_ascii() {
        b"0" => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(&test);
            command
        }
        _ => Command::new(&test),
    };
    let output = command
        .args(["--exact", "sqlite::unusable_files::an_unprivileged_process"])
        .current_dir("/")
        .env("TOOLWRIGHT_TEST_FILE", &file)
        .output()
        .unwrap();
    allow(directory.path().to_owned(), 0o755).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Run by the test above, as another user; by itself it does nothing.
#[tokio::test]
async fn an_unprivileged_process() {
    let Some(file) = std::env::var_os("TOOLWRIGHT_TEST_FILE") else {
        return;
    };
    let file = std::path::PathBuf::from(file);
    let error = open_error(&file).await;
    assert!(error.contains("journals.db` cannot be written: allow it"), "{error}");
    // Nor can a file be created in the same directory.
    let error = open_error(&file.with_file_name("new.db")).await;
    assert!(error.contains("new.db` cannot be written: allow it"), "{error}");
    let (_directory, elsewhere) = temporary_file();
    let elsewhere = SqliteStore::open(&elsewhere).await.unwrap();
    let room = acquire(&elsewhere, "room").await;
    elsewhere.append(&room, Append::new(&numbered_entries(0, 2))).await.unwrap();
}
