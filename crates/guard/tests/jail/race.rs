//! A directory swapped for a link that leads out, while somebody reads and writes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolwright_guard::WriteMode;

use super::{Prison, SECRET, race};

fn while_the_door_is_swapped(prison: &Prison, visit: impl FnMut(usize)) {
    let (door, other) = (prison.inside("door"), prison.inside("other"));
    fs::create_dir(&door).unwrap();
    fs::write(door.join("secret.txt"), "harmless").unwrap();
    symlink("..", &other).unwrap();
    race(|| exchange(&door, &other), visit);
}

/// Swaps two names in one step, so that the door is always there and half the time leads out.
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
fn no_read_ever_returns_the_secret() {
    let prison = Prison::new();
    while_the_door_is_swapped(&prison, |_| {
        if let Ok(found) = prison.jail.read("door/secret.txt") {
            assert_eq!(found.text, "harmless");
        }
    });
}

#[test]
fn no_listing_ever_shows_what_is_outside() {
    let prison = Prison::new();
    while_the_door_is_swapped(&prison, |_| {
        if let Ok(listing) = prison.jail.list("door") {
            assert_eq!(listing.entries.len(), 1, "{listing:?}");
        }
    });
}

#[test]
fn no_write_ever_lands_outside() {
    let prison = Prison::new();
    while_the_door_is_swapped(&prison, |count| {
        let new = format!("door/{count}.txt");
        let _ = prison.jail.write(&new, "x", WriteMode::Create);
        let _ = prison
            .jail
            .write("door/secret.txt", "x", WriteMode::Replace);
    });
    let secret = fs::read_to_string(prison.outside("secret.txt")).unwrap();
    assert_eq!(secret, SECRET);
    assert_eq!(fs::read_dir(prison.folder.path()).unwrap().count(), 2);
}
