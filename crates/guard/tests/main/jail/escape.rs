//! Paths that lead out of the jail are refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolwright_guard::{Jail, JailError, WriteMode};

use super::{Fixture, SECRET};

#[track_caller]
fn assert_outside<T>(result: Result<T, JailError>) {
    match result {
        Err(JailError::Outside { .. }) => {}
        Err(error) => panic!("refused, but as {error:?}"),
        Ok(_) => panic!("let out"),
    }
}

#[test]
fn dots_do_not_lead_out() {
    let fixture = Fixture::new();
    assert_outside(fixture.jail.read("../secret.txt"));
    assert_outside(fixture.jail.list(".."));
    assert_outside(fixture.jail.resolve("../secret.txt"));
    assert_outside(fixture.jail.open("../yard/note.txt"));
}

#[test]
fn dots_do_not_lead_out_from_below() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inside("a")).unwrap();
    assert_outside(fixture.jail.read("a/../../secret.txt"));
    assert_outside(fixture.jail.read("./a/.././../yard/../secret.txt"));
}

#[test]
fn dots_that_stay_inside_are_allowed() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.inside("a/b")).unwrap();
    assert_eq!(fixture.jail.read("a/b/../../note.txt").unwrap().text, "a note");
    assert_eq!(fixture.jail.resolve("./a/b/..").unwrap(), Path::new("a"));
}

#[test]
fn an_absolute_path_outside_is_refused() {
    let fixture = Fixture::new();
    assert_outside(fixture.jail.read(fixture.outside("secret.txt").to_str().unwrap()));
    assert_outside(fixture.jail.read("/etc/passwd"));
    assert_outside(fixture.jail.list("/"));
}

#[test]
fn an_absolute_path_that_only_begins_like_the_jail_is_refused() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.outside("yard-next-door")).unwrap();
    let neighbour = fixture.outside("yard-next-door");
    assert_outside(fixture.jail.list(neighbour.to_str().unwrap()));
    let roundabout = fixture.inside("../secret.txt");
    assert_outside(fixture.jail.read(roundabout.to_str().unwrap()));
}

#[test]
fn an_absolute_path_inside_is_allowed() {
    let fixture = Fixture::new();
    let note = fixture.inside("note.txt");
    assert_eq!(fixture.jail.read(note.to_str().unwrap()).unwrap().text, "a note");
    let yard = fixture.outside("yard");
    assert_eq!(fixture.jail.list(yard.to_str().unwrap()).unwrap().entries.len(), 1);
}

#[test]
fn a_link_to_a_file_outside_is_refused() {
    let fixture = Fixture::new();
    symlink("../secret.txt", fixture.inside("relative")).unwrap();
    symlink(fixture.outside("secret.txt"), fixture.inside("absolute")).unwrap();
    assert_outside(fixture.jail.read("relative"));
    assert_outside(fixture.jail.read("absolute"));
    assert_outside(fixture.jail.resolve("relative"));
}

#[test]
fn a_link_to_a_directory_outside_is_refused_in_the_middle_of_a_path() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inside("a")).unwrap();
    symlink("../..", fixture.inside("a/up")).unwrap();
    assert_outside(fixture.jail.read("a/up/secret.txt"));
    assert_outside(fixture.jail.list("a/up"));
    // A path that leaves the jail and returns is refused, too.
    assert_outside(fixture.jail.read("a/up/yard/note.txt"));
}

#[test]
fn a_link_to_a_link_outside_is_refused() {
    let fixture = Fixture::new();
    symlink("second", fixture.inside("first")).unwrap();
    symlink("../secret.txt", fixture.inside("second")).unwrap();
    assert_outside(fixture.jail.read("first"));
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inside("a")).unwrap();
    symlink("../note.txt", fixture.inside("a/link")).unwrap();
    assert_eq!(fixture.jail.read("a/link").unwrap().text, "a note");
    assert_eq!(fixture.jail.resolve("a/link").unwrap(), Path::new("note.txt"));
}

#[test]
fn a_cycle_of_links_is_refused() {
    let fixture = Fixture::new();
    symlink("b", fixture.inside("a")).unwrap();
    symlink("a", fixture.inside("b")).unwrap();
    assert!(fixture.jail.read("a").is_err());
}

#[test]
fn encoded_dots_are_an_ordinary_name() {
    let fixture = Fixture::new();
    for name in ["%2e%2e/secret.txt", "..%2fsecret.txt", "..\\secret.txt", "~/secret.txt"] {
        let error = fixture.jail.read(name).unwrap_err();
        assert!(matches!(error, JailError::Missing { .. }), "{error:?}");
    }
}

#[test]
fn a_nul_byte_is_refused() {
    let fixture = Fixture::new();
    for path in ["note.txt\0", "note.txt\0/../../secret.txt", "\0"] {
        let error = fixture.jail.read(path).unwrap_err();
        assert!(matches!(error, JailError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn empty_and_overlong_paths_are_refused() {
    let fixture = Fixture::new();
    for path in [String::new(), "a/".repeat(1 << 20)] {
        let error = fixture.jail.read(&path).unwrap_err();
        assert!(error.to_string().len() < 100, "{error}");
        assert!(matches!(error, JailError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn the_jail_stays_at_its_directory_when_another_gets_its_name() {
    let fixture = Fixture::new();
    fs::rename(fixture.outside("yard"), fixture.outside("moved")).unwrap();
    symlink(".", fixture.outside("yard")).unwrap();
    assert_eq!(fixture.jail.read("note.txt").unwrap().text, "a note");
    assert!(fixture.jail.read("secret.txt").is_err());
}

#[test]
fn a_jail_needs_a_directory() {
    let fixture = Fixture::new();
    for name in ["nowhere", "secret.txt"] {
        let error = Jail::new(fixture.outside(name)).unwrap_err();
        assert!(matches!(error, JailError::Root { .. }), "{error:?}");
    }
}

#[test]
fn no_error_reveals_the_path_of_the_jail() {
    let fixture = Fixture::new();
    symlink("../secret.txt", fixture.inside("out")).unwrap();
    symlink("loop", fixture.inside("loop")).unwrap();
    fs::write(fixture.inside("binary"), [0, 1, 2]).unwrap();
    let jail = fixture.jail.clone().max_bytes(3);
    let missing = fixture.inside("missing.txt");
    let mut errors = Vec::new();
    for path in ["", "..", "out", "loop", "missing", "note.txt/deeper", ".", "\0", "binary"] {
        errors.extend(jail.read(path).err());
        errors.extend(jail.list(path).err());
        errors.extend(jail.resolve(path).err());
        for mode in [WriteMode::Create, WriteMode::Replace] {
            errors.extend(jail.write(path, "x", mode).err());
            errors.extend(jail.write(path, SECRET, mode).err());
        }
    }
    errors.extend(jail.read(missing.to_str().unwrap()).err());
    errors.extend(Jail::new(missing).err());
    assert!(errors.len() > 40, "{}", errors.len());
    let folder = fixture.folder.path().to_str().unwrap();
    for error in errors {
        assert!(!error.to_string().contains(folder), "{error}");
    }
}
