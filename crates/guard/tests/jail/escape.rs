//! Ways out of a jail, all of them closed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolwright_guard::{Jail, JailError, WriteMode};

use super::{Prison, SECRET};

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
    let prison = Prison::new();
    assert_outside(prison.jail.read("../secret.txt"));
    assert_outside(prison.jail.list(".."));
    assert_outside(prison.jail.resolve("../secret.txt"));
    assert_outside(prison.jail.open("../yard/note.txt"));
}

#[test]
fn dots_do_not_lead_out_from_below() {
    let prison = Prison::new();
    fs::create_dir(prison.inside("a")).unwrap();
    assert_outside(prison.jail.read("a/../../secret.txt"));
    assert_outside(prison.jail.read("./a/.././../yard/../secret.txt"));
}

#[test]
fn dots_that_stay_inside_are_fine() {
    let prison = Prison::new();
    fs::create_dir_all(prison.inside("a/b")).unwrap();
    assert_eq!(
        prison.jail.read("a/b/../../note.txt").unwrap().text,
        "a note"
    );
    assert_eq!(prison.jail.resolve("./a/b/..").unwrap(), Path::new("a"));
}

#[test]
fn an_absolute_path_outside_is_refused() {
    let prison = Prison::new();
    assert_outside(
        prison
            .jail
            .read(prison.outside("secret.txt").to_str().unwrap()),
    );
    assert_outside(prison.jail.read("/etc/passwd"));
    assert_outside(prison.jail.list("/"));
}

#[test]
fn an_absolute_path_that_only_begins_like_the_jail_is_refused() {
    let prison = Prison::new();
    fs::create_dir(prison.outside("yard-next-door")).unwrap();
    let neighbour = prison.outside("yard-next-door");
    assert_outside(prison.jail.list(neighbour.to_str().unwrap()));
    let roundabout = prison.inside("../secret.txt");
    assert_outside(prison.jail.read(roundabout.to_str().unwrap()));
}

#[test]
fn an_absolute_path_inside_is_fine() {
    let prison = Prison::new();
    let note = prison.inside("note.txt");
    assert_eq!(
        prison.jail.read(note.to_str().unwrap()).unwrap().text,
        "a note"
    );
    let yard = prison.outside("yard");
    assert_eq!(
        prison
            .jail
            .list(yard.to_str().unwrap())
            .unwrap()
            .entries
            .len(),
        1
    );
}

#[test]
fn a_link_to_a_file_outside_is_refused() {
    let prison = Prison::new();
    symlink("../secret.txt", prison.inside("relative")).unwrap();
    symlink(prison.outside("secret.txt"), prison.inside("absolute")).unwrap();
    assert_outside(prison.jail.read("relative"));
    assert_outside(prison.jail.read("absolute"));
    assert_outside(prison.jail.resolve("relative"));
}

#[test]
fn a_link_to_a_directory_outside_is_refused_in_the_middle_of_a_path() {
    let prison = Prison::new();
    fs::create_dir(prison.inside("a")).unwrap();
    symlink("../..", prison.inside("a/up")).unwrap();
    assert_outside(prison.jail.read("a/up/secret.txt"));
    assert_outside(prison.jail.list("a/up"));
    // Out and in again is out.
    assert_outside(prison.jail.read("a/up/yard/note.txt"));
}

#[test]
fn a_link_to_a_link_outside_is_refused() {
    let prison = Prison::new();
    symlink("second", prison.inside("first")).unwrap();
    symlink("../secret.txt", prison.inside("second")).unwrap();
    assert_outside(prison.jail.read("first"));
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let prison = Prison::new();
    fs::create_dir(prison.inside("a")).unwrap();
    symlink("../note.txt", prison.inside("a/link")).unwrap();
    assert_eq!(prison.jail.read("a/link").unwrap().text, "a note");
    assert_eq!(
        prison.jail.resolve("a/link").unwrap(),
        Path::new("note.txt")
    );
}

#[test]
fn links_in_a_circle_end() {
    let prison = Prison::new();
    symlink("b", prison.inside("a")).unwrap();
    symlink("a", prison.inside("b")).unwrap();
    assert!(prison.jail.read("a").is_err());
}

#[test]
fn encoded_dots_are_just_a_name() {
    let prison = Prison::new();
    for name in [
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "..\\secret.txt",
        "~/secret.txt",
    ] {
        let error = prison.jail.read(name).unwrap_err();
        assert!(matches!(error, JailError::Missing { .. }), "{error:?}");
    }
}

#[test]
fn a_nul_byte_is_refused() {
    let prison = Prison::new();
    for path in ["note.txt\0", "note.txt\0/../../secret.txt", "\0"] {
        let error = prison.jail.read(path).unwrap_err();
        assert!(matches!(error, JailError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn empty_and_endless_paths_are_refused() {
    let prison = Prison::new();
    for path in [String::new(), "a/".repeat(1 << 20)] {
        let error = prison.jail.read(&path).unwrap_err();
        assert!(error.to_string().len() < 100, "{error}");
        assert!(matches!(error, JailError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn the_jail_stays_where_it_was_when_its_name_is_given_to_another() {
    let prison = Prison::new();
    fs::rename(prison.outside("yard"), prison.outside("moved")).unwrap();
    symlink(".", prison.outside("yard")).unwrap();
    assert_eq!(prison.jail.read("note.txt").unwrap().text, "a note");
    assert!(prison.jail.read("secret.txt").is_err());
}

#[test]
fn a_jail_needs_a_directory() {
    let prison = Prison::new();
    for name in ["nowhere", "secret.txt"] {
        let error = Jail::new(prison.outside(name)).unwrap_err();
        assert!(matches!(error, JailError::Root { .. }), "{error:?}");
    }
}

#[test]
fn no_error_tells_where_the_jail_is() {
    let prison = Prison::new();
    symlink("../secret.txt", prison.inside("out")).unwrap();
    symlink("loop", prison.inside("loop")).unwrap();
    fs::write(prison.inside("binary"), [0, 1, 2]).unwrap();
    let jail = prison.jail.clone().max_bytes(3);
    let missing = prison.inside("missing.txt");
    let mut errors = Vec::new();
    for path in [
        "",
        "..",
        "out",
        "loop",
        "missing",
        "note.txt/deeper",
        ".",
        "\0",
        "binary",
    ] {
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
    let folder = prison.folder.path().to_str().unwrap();
    for error in errors {
        assert!(!error.to_string().contains(folder), "{error}");
    }
}
