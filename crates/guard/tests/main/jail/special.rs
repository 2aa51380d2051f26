//! Pipes, sockets and devices are refused.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use toolwright_guard::{EntryKind, Jail, JailError, WriteMode};

use super::{Fixture, race};

fn create_pipe(path: &Path) {
    let created = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(created.success());
}

#[track_caller]
fn assert_not_a_file<T>(result: Result<T, JailError>) {
    match result {
        Err(JailError::NotAFile { .. }) => {}
        Err(error) => panic!("refused, but as {error:?}"),
        Ok(_) => panic!("opened"),
    }
}

#[test]
fn a_pipe_is_refused_at_once() {
    let fixture = Fixture::new();
    create_pipe(&fixture.inside("pipe"));
    assert_not_a_file(fixture.jail.read("pipe"));
    assert_not_a_file(fixture.jail.resolve("pipe"));
    assert_not_a_file(fixture.jail.write("pipe", "x", WriteMode::Replace));
    let error = fixture.jail.list("pipe").unwrap_err();
    assert!(matches!(error, JailError::NotADirectory { .. }), "{error:?}");
}

#[test]
fn a_file_swapped_for_a_pipe_does_not_block_the_reader() {
    let fixture = Fixture::new();
    create_pipe(&fixture.outside("pipe"));
    let (pipe, file) = (fixture.outside("pipe"), fixture.outside("file"));
    let name = fixture.inside("note.txt");
    let swap = || {
        fs::rename(&name, &file).unwrap();
        fs::rename(&pipe, &name).unwrap();
        fs::rename(&name, &pipe).unwrap();
        fs::rename(&file, &name).unwrap();
    };
    race(swap, |_| {
        if let Ok(note) = fixture.jail.read("note.txt") {
            assert_eq!(note.text, "a note");
        }
    });
}

#[test]
fn a_device_is_refused() {
    let devices = Jail::new("/dev").unwrap();
    for name in ["null", "zero", "tty"] {
        assert_not_a_file(devices.read(name));
    }
}

#[test]
fn a_socket_is_refused() {
    let fixture = Fixture::new();
    let _listener = UnixListener::bind(fixture.inside("socket")).unwrap();
    assert_not_a_file(fixture.jail.read("socket"));
    let listing = fixture.jail.list(".").unwrap();
    assert_eq!(listing.entries[1].kind, EntryKind::Other);
}

#[test]
fn a_directory_is_no_file_and_a_file_no_directory() {
    let fixture = Fixture::new();
    assert_not_a_file(fixture.jail.read("."));
    let error = fixture.jail.list("note.txt").unwrap_err();
    assert!(matches!(error, JailError::NotADirectory { .. }), "{error:?}");
    let error = fixture.jail.read("note.txt/deeper").unwrap_err();
    assert!(matches!(error, JailError::NotADirectory { .. }), "{error:?}");
}
