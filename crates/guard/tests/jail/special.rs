//! Things in a directory that are neither file nor directory.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use toolwright_guard::{EntryKind, Jail, JailError, WriteMode};

use super::{Prison, race};

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[track_caller]
fn assert_no_file<T>(result: Result<T, JailError>) {
    match result {
        Err(JailError::NotAFile { .. }) => {}
        Err(error) => panic!("refused, but as {error:?}"),
        Ok(_) => panic!("opened"),
    }
}

#[test]
fn a_pipe_is_refused_at_once() {
    let prison = Prison::new();
    make_pipe(&prison.inside("pipe"));
    assert_no_file(prison.jail.read("pipe"));
    assert_no_file(prison.jail.resolve("pipe"));
    assert_no_file(prison.jail.write("pipe", "x", WriteMode::Replace));
    let error = prison.jail.list("pipe").unwrap_err();
    assert!(
        matches!(error, JailError::NotADirectory { .. }),
        "{error:?}"
    );
}

#[test]
fn a_file_swapped_for_a_pipe_blocks_nobody() {
    let prison = Prison::new();
    make_pipe(&prison.outside("pipe"));
    let (pipe, file) = (prison.outside("pipe"), prison.outside("file"));
    let name = prison.inside("note.txt");
    let swap = || {
        fs::rename(&name, &file).unwrap();
        fs::rename(&pipe, &name).unwrap();
        fs::rename(&name, &pipe).unwrap();
        fs::rename(&file, &name).unwrap();
    };
    race(swap, |_| {
        if let Ok(note) = prison.jail.read("note.txt") {
            assert_eq!(note.text, "a note");
        }
    });
}

#[test]
fn a_device_is_refused() {
    let devices = Jail::new("/dev").unwrap();
    for name in ["null", "zero", "tty"] {
        assert_no_file(devices.read(name));
    }
}

#[test]
fn a_socket_is_refused() {
    let prison = Prison::new();
    let _listener = UnixListener::bind(prison.inside("socket")).unwrap();
    assert_no_file(prison.jail.read("socket"));
    let listing = prison.jail.list(".").unwrap();
    assert_eq!(listing.entries[1].kind, EntryKind::Other);
}

#[test]
fn a_directory_is_no_file_and_a_file_no_directory() {
    let prison = Prison::new();
    assert_no_file(prison.jail.read("."));
    let error = prison.jail.list("note.txt").unwrap_err();
    assert!(
        matches!(error, JailError::NotADirectory { .. }),
        "{error:?}"
    );
    let error = prison.jail.read("note.txt/deeper").unwrap_err();
    assert!(
        matches!(error, JailError::NotADirectory { .. }),
        "{error:?}"
    );
}
