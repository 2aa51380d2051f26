//! Tests of the jail: a directory next to a secret file outside it.

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

/// A folder with `secret.txt` and the jail `yard`, which contains `note.txt`.
struct Fixture {
    folder: TempDir,
    jail: Jail,
}

impl Fixture {
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

/// Runs `access` while another thread runs `swap`, until both have run often enough.
///
/// The numbers and pauses were tuned with a jail that checks a path and then opens it: the tests catch
/// it in nine runs of ten.
fn race(swap: impl Fn() + Sync, mut access: impl FnMut(usize)) {
    /// Stops the other thread, also when an assertion fails in this one.
    struct StopOnDrop<'a>(&'a AtomicBool);

    impl Drop for StopOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let (swaps, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let _stop = StopOnDrop(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap();
                let swapped = swaps.fetch_add(1, Ordering::Relaxed);
                for _ in 0..swapped * 37 % 2_000 {
                    hint::spin_loop();
                }
            }
        });
        for count in 0.. {
            access(count);
            if count >= 1_000 && swaps.load(Ordering::Relaxed) >= 5_000 {
                break;
            }
        }
    });
}
