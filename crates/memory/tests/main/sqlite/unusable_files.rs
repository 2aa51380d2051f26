//! Files that cannot be used: a clear word each, and whoever uses another file does not notice.

use std::process::Command;

use toolwright::chat::Store as _;
use toolwright_memory::SqliteStore;

use super::{place, refused, run};
use crate::fixtures::{hold, several, tell};

#[tokio::test]
async fn a_directory_is_no_file() {
    let (directory, _) = place();
    let error = refused(directory.path()).await;
    assert!(
        error.ends_with("is a directory: name a file in it"),
        "{error}"
    );
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_is_named() {
    let (_directory, file) = place();
    std::fs::write(&file, "a file").unwrap();
    let beneath = file.join("deeper").join("journals.db");
    let error = refused(&beneath).await;
    let expected = format!(
        "the directory `{}` cannot be made",
        file.join("deeper").display()
    );
    assert!(error.starts_with(&expected), "{error}");
}

#[tokio::test]
async fn what_is_no_database_is_left_alone() {
    let (_directory, file) = place();
    let letter = "Dear Sir or Madam, ".repeat(100);
    std::fs::write(&file, &letter).unwrap();
    let error = refused(&file).await;
    assert!(error.contains("journals.db` is no database: "), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), letter);
}

#[tokio::test]
async fn a_damaged_file_says_so_and_others_go_on() {
    let (_directory, file) = place();
    let (_elsewhere, other) = place();
    let store = SqliteStore::open(&file).await.unwrap();
    tell(&store, "room", &several(0, 500)).await;
    let other = SqliteStore::open(&other).await.unwrap();
    run(&file, "PRAGMA wal_checkpoint(TRUNCATE)").await;
    drop(store);
    // All pages but the first, which says that it is a database and which tables there are.
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
    tell(&other, "room", &several(0, 5)).await;
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_names_its_conversation_and_others_go_on() {
    let (_directory, file) = place();
    let store = SqliteStore::open(&file).await.unwrap();
    tell(&store, "room", &several(0, 2)).await;
    tell(&store, "other", &several(0, 2)).await;
    run(&file, "UPDATE entries SET entry = '{' WHERE seq = 1").await;
    let error = store.load("room").await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("conversation `room` has an entry that cannot be read")
    );
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(store.load("other").await.unwrap().len(), 2);
    tell(&store, "other", &several(2, 2)).await;
}

/// Root may write everything: the test is run again as somebody who may not.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_may_only_be_read_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, file) = place();
    let store = SqliteStore::open(&file).await.unwrap();
    tell(&store, "room", &several(0, 2)).await;
    drop(store);
    let allow = |path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
    for beside in directory.path().read_dir().unwrap() {
        allow(beside.unwrap().path(), 0o444).unwrap();
    }
    allow(directory.path().to_owned(), 0o555).unwrap();
    // Where others can reach it, too.
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
        .args([
            "--exact",
            "sqlite::unusable_files::somebody_who_may_only_read",
        ])
        .current_dir("/")
        .env("TOOLWRIGHT_TEST_FILE", &file)
        .output()
        .unwrap();
    allow(directory.path().to_owned(), 0o755).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Run by the test above, as another user; by itself it does nothing.
#[tokio::test]
async fn somebody_who_may_only_read() {
    let Some(file) = std::env::var_os("TOOLWRIGHT_TEST_FILE") else {
        return;
    };
    let file = std::path::PathBuf::from(file);
    let error = refused(&file).await;
    assert!(
        error.contains("journals.db` cannot be written: allow it"),
        "{error}"
    );
    // Nor can a file be made beside it.
    let error = refused(&file.with_file_name("new.db")).await;
    assert!(
        error.contains("new.db` cannot be written: allow it"),
        "{error}"
    );
    let (_directory, elsewhere) = place();
    let elsewhere = SqliteStore::open(&elsewhere).await.unwrap();
    let room = hold(&elsewhere, "room").await;
    elsewhere.append(&room, &several(0, 2)).await.unwrap();
}
