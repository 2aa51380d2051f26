//! A directory swapped for a link that leads out, while somebody reads and writes.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use toolwright_guard::WriteMode;

use super::{Prison, SECRET};

/// Runs `visit` until the door has been a link and a directory again a thousand times.
fn while_the_door_is_swapped(prison: &Prison, mut visit: impl FnMut(usize)) {
    let (door, aside) = (prison.inside("door"), prison.inside("aside"));
    fs::create_dir(&door).unwrap();
    fs::write(door.join("secret.txt"), "harmless").unwrap();
    let swaps = AtomicUsize::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::rename(&door, &aside).unwrap();
                symlink("..", &door).unwrap();
                fs::remove_file(&door).unwrap();
                fs::rename(&aside, &door).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        for count in 0.. {
            visit(count);
            if count >= 1_000 && swaps.load(Ordering::Relaxed) >= 1_000 {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
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
