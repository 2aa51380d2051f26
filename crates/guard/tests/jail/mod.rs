//! A jail beside a secret.

use std::fs;
use std::hint;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use tempfile::TempDir;
use toolwright_guard::Jail;

mod escape;
mod limits;
mod race;
mod special;
mod write;

const SECRET: &str = "the secret";

/// A folder with `secret.txt`, and beside it the jail `yard` with `note.txt`.
struct Prison {
    folder: TempDir,
    jail: Jail,
}

impl Prison {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret.txt"), SECRET).unwrap();
        let yard = folder.path().join("yard");
        fs::create_dir(&yard).unwrap();
        fs::write(yard.join("note.txt"), "a note").unwrap();
        let jail = Jail::new(&yard).unwrap();
        Self { folder, jail }
    }

    /// A path on the host, outside the jail.
    fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path on the host, inside the jail.
    fn inside(&self, name: &str) -> PathBuf {
        self.folder.path().join("yard").join(name)
    }
}

/// Runs `visit` while another thread runs `swap`, until both have run often enough.
///
/// How often and with what pauses was tried out on a jail that checks a path and then opens it: such a
/// one gives the secret away in nine runs of ten.
fn race(swap: impl Fn() + Sync, mut visit: impl FnMut(usize)) {
    /// Ends the other thread also when an assertion ends this one.
    struct End<'a>(&'a AtomicBool);

    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let (swaps, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let _end = End(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap();
                let count = swaps.fetch_add(1, Ordering::Relaxed);
                for _ in 0..count * 37 % 2_000 {
                    hint::spin_loop();
                }
            }
        });
        for visits in 0.. {
            visit(visits);
            if visits >= 1_000 && swaps.load(Ordering::Relaxed) >= 5_000 {
                break;
            }
        }
    });
}
