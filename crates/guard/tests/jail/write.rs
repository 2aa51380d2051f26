//! Writing inside a jail.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use toolwright_guard::{JailError, WriteMode};

use super::{Prison, SECRET};

#[test]
fn a_new_file_is_written_whole_and_no_draft_is_left() {
    let prison = Prison::new();
    fs::create_dir(prison.inside("a")).unwrap();
    prison
        .jail
        .write("a/new.txt", "hello", WriteMode::Create)
        .unwrap();
    assert_eq!(prison.jail.read("a/new.txt").unwrap().text, "hello");
    assert_eq!(prison.jail.list("a").unwrap().entries.len(), 1);
}

#[test]
fn what_exists_is_not_overwritten_unless_asked() {
    let prison = Prison::new();
    let error = prison
        .jail
        .write("note.txt", "x", WriteMode::Create)
        .unwrap_err();
    assert!(matches!(error, JailError::Exists { .. }), "{error:?}");
    assert_eq!(prison.jail.read("note.txt").unwrap().text, "a note");
    prison
        .jail
        .write("note.txt", "x", WriteMode::Replace)
        .unwrap();
    assert_eq!(prison.jail.read("note.txt").unwrap().text, "x");
    assert_eq!(prison.jail.list(".").unwrap().entries.len(), 1);
}

#[test]
fn only_one_of_many_writers_creates_the_file() {
    let prison = Prison::new();
    let created = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if prison.jail.write("new", "x", WriteMode::Create).is_ok() {
                    created.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(created.into_inner(), 1);
}

#[test]
fn a_replaced_file_keeps_its_permissions_but_no_borrowed_rights() {
    let prison = Prison::new();
    let path = prison.inside("note.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    prison
        .jail
        .write("note.txt", "x", WriteMode::Replace)
        .unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let prison = Prison::new();
    let path = prison.inside("note.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let error = prison
        .jail
        .write("note.txt", "x", WriteMode::Replace)
        .unwrap_err();
    assert!(matches!(error, JailError::Denied { .. }), "{error:?}");
}

#[test]
fn nothing_is_written_through_a_link() {
    let prison = Prison::new();
    symlink("../secret.txt", prison.inside("file")).unwrap();
    symlink("../new.txt", prison.inside("dangling")).unwrap();
    symlink("..", prison.inside("up")).unwrap();
    for mode in [WriteMode::Create, WriteMode::Replace] {
        for path in [
            "file",
            "dangling",
            "up/secret.txt",
            "up/new.txt",
            "../new.txt",
        ] {
            assert!(prison.jail.write(path, "x", mode).is_err(), "{path}");
        }
    }
    assert_eq!(
        fs::read_to_string(prison.outside("secret.txt")).unwrap(),
        SECRET
    );
    assert!(!prison.outside("new.txt").exists());
}

#[test]
fn too_much_is_refused() {
    let prison = Prison::new();
    let jail = prison.jail.clone().max_bytes(3);
    let error = jail.write("new", "four", WriteMode::Create).unwrap_err();
    assert!(
        matches!(
            error,
            JailError::TooLong {
                bytes: 4,
                limit: 3,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_directory_is_neither_replaced_nor_made() {
    let prison = Prison::new();
    fs::create_dir(prison.inside("a")).unwrap();
    for path in ["a", ".", "a/..", "a/."] {
        let error = prison
            .jail
            .write(path, "x", WriteMode::Replace)
            .unwrap_err();
        assert!(
            matches!(error, JailError::NotAFile { .. }),
            "{path}: {error:?}"
        );
    }
    let error = prison
        .jail
        .write("b/new", "x", WriteMode::Create)
        .unwrap_err();
    assert!(matches!(error, JailError::Missing { .. }), "{error:?}");
}
