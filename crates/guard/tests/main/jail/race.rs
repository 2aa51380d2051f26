//! A directory is swapped for a link that leads outside during reads and writes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolwright_guard::WriteMode;

use super::{Fixture, SECRET, race};

fn while_a_directory_is_swapped(fixture: &Fixture, access: impl FnMut(usize)) {
    let (directory, other) = (fixture.inside("directory"), fixture.inside("other"));
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("secret.txt"), "harmless").unwrap();
    symlink("..", &other).unwrap();
    race(|| exchange(&directory, &other), access);
}

/// Swaps two names atomically, so that the path always exists and leads outside half of the time.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

#[cfg(not(target_os = "linux"))]
fn exchange(one: &Path, other: &Path) {
    let aside = one.with_extension("aside");
    fs::rename(one, &aside).unwrap();
    fs::rename(other, one).unwrap();
    fs::rename(&aside, other).unwrap();
}

#[test]
fn no_read_returns_the_secret() {
    let fixture = Fixture::new();
    while_a_directory_is_swapped(&fixture, |_| {
        if let Ok(found) = fixture.jail.read("directory/secret.txt") {
            assert_eq!(found.text, "harmless");
        }
    });
}

#[test]
fn no_listing_shows_files_outside() {
    let fixture = Fixture::new();
    while_a_directory_is_swapped(&fixture, |_| {
        if let Ok(listing) = fixture.jail.list("directory") {
            assert_eq!(listing.entries.len(), 1, "{listing:?}");
        }
    });
}

#[test]
fn no_write_changes_files_outside() {
    let fixture = Fixture::new();
    while_a_directory_is_swapped(&fixture, |count| {
        let new = format!("directory/{count}.txt");
        let _ = fixture.jail.write(&new, "x", WriteMode::Create);
        let _ = fixture.jail.write("directory/secret.txt", "x", WriteMode::Replace);
    });
    let secret = fs::read_to_string(fixture.outside("secret.txt")).unwrap();
    assert_eq!(secret, SECRET);
    assert_eq!(fs::read_dir(fixture.folder.path()).unwrap().count(), 2);
}
