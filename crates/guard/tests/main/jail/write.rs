//! Files are written inside the jail.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use toolwright_guard::{JailError, WriteMode};

use super::{Fixture, SECRET};

#[test]
fn a_new_file_is_written_whole_and_no_draft_is_left() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inside("a")).unwrap();
    fixture.jail.write("a/new.txt", "hello", WriteMode::Create).unwrap();
    assert_eq!(fixture.jail.read("a/new.txt").unwrap().text, "hello");
    assert_eq!(fixture.jail.list("a").unwrap().entries.len(), 1);
}

#[test]
fn an_existing_file_is_overwritten_only_in_replace_mode() {
    let fixture = Fixture::new();
    let error = fixture.jail.write("note.txt", "x", WriteMode::Create).unwrap_err();
    assert!(matches!(error, JailError::Exists { .. }), "{error:?}");
    assert_eq!(fixture.jail.read("note.txt").unwrap().text, "a note");
    fixture.jail.write("note.txt", "x", WriteMode::Replace).unwrap();
    assert_eq!(fixture.jail.read("note.txt").unwrap().text, "x");
    assert_eq!(fixture.jail.list(".").unwrap().entries.len(), 1);
}

#[test]
fn only_one_of_many_writers_creates_the_file() {
    let fixture = Fixture::new();
    let created = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if fixture.jail.write("new", "x", WriteMode::Create).is_ok() {
                    created.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(created.into_inner(), 1);
}

#[test]
fn a_replaced_file_keeps_its_permissions_without_set_user_id() {
    let fixture = Fixture::new();
    let path = fixture.inside("note.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    fixture.jail.write("note.txt", "x", WriteMode::Replace).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let fixture = Fixture::new();
    let path = fixture.inside("note.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let error = fixture.jail.write("note.txt", "x", WriteMode::Replace).unwrap_err();
    assert!(matches!(error, JailError::Denied { .. }), "{error:?}");
}

#[test]
fn nothing_is_written_through_a_link() {
    let fixture = Fixture::new();
    symlink("../secret.txt", fixture.inside("file")).unwrap();
    symlink("../new.txt", fixture.inside("dangling")).unwrap();
    symlink("..", fixture.inside("up")).unwrap();
    for mode in [WriteMode::Create, WriteMode::Replace] {
        for path in ["file", "dangling", "up/secret.txt", "up/new.txt", "../new.txt"] {
            assert!(fixture.jail.write(path, "x", mode).is_err(), "{path}");
        }
    }
    assert_eq!(fs::read_to_string(fixture.outside("secret.txt")).unwrap(), SECRET);
    assert!(!fixture.outside("new.txt").exists());
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let fixture = Fixture::new();
    let jail = fixture.jail.clone().max_bytes(3);
    let error = jail.write("new", "four", WriteMode::Create).unwrap_err();
    assert!(matches!(error, JailError::TooLong { bytes: 4, limit: 3, .. }), "{error:?}");
}

#[test]
fn a_directory_is_neither_replaced_nor_created() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inside("a")).unwrap();
    for path in ["a", ".", "a/..", "a/."] {
        let error = fixture.jail.write(path, "x", WriteMode::Replace).unwrap_err();
        assert!(matches!(error, JailError::NotAFile { .. }), "{path}: {error:?}");
    }
    let error = fixture.jail.write("b/new", "x", WriteMode::Create).unwrap_err();
    assert!(matches!(error, JailError::Missing { .. }), "{error:?}");
}
