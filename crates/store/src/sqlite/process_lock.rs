//! A lock file per process, which shows other processes whether it still runs.
//!
//! A process that restarts after a crash thus takes over the leases of the crashed one at once, instead of waiting for them
//! to expire. On a file system without locks every process seems to run, and leases have to expire.

use std::ffi::OsString;
use std::fs::{File, TryLockError, remove_file};
use std::io;
use std::path::{Path, PathBuf};

use toolwright_chat::{StoreError, random_hex};

use super::file;

/// What the name of a lock file has after the name of the database; the name of the process follows.
const LOCK_SUFFIX: &str = "-alive-";

/// The lock that this process holds while a store is open.
pub(super) struct ProcessLock {
    name: String,
    path: PathBuf,
    /// Closing the file releases the lock, however the process ends.
    _file: File,
}

impl ProcessLock {
    /// Creates and locks a file with a random name, and removes the lock files of processes that are gone.
    pub(super) fn acquire(database: &Path) -> Result<Self, StoreError> {
        remove_stale_locks(database);
        loop {
            let name = random_hex(8)?;
            let path = lock_path(database, &name);
            let file = file::open(&path).map_err(|error| file::store_error(&path, error))?;
            // Between the two calls another process may have taken the file for a stale one and removed it.
            let locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if locked && path.exists() {
                return Ok(Self { name, path, _file: file });
            }
        }
    }

    /// The name of this process in the leases it holds.
    pub(super) fn process_name(&self) -> &str {
        &self.name
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        let _ = remove_file(&self.path);
    }
}

/// Returns true if the process of this name no longer runs. Anything but hexadecimal digits is no process name and no part
/// of a path.
pub(super) fn is_process_gone(database: &Path, name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_hexdigit())
        && remove_if_unlocked(&lock_path(database, name))
}

/// Removes a lock file that no process holds; returns true if it was unlocked or did not exist.
fn remove_if_unlocked(lock: &Path) -> bool {
    match File::open(lock) {
        Ok(file) => {
            let unlocked = file.try_lock().is_ok();
            if unlocked {
                let _ = remove_file(lock);
            }
            unlocked
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn remove_stale_locks(database: &Path) {
    let directory = database.parent().filter(|it| !it.as_os_str().is_empty());
    let files = directory.unwrap_or(Path::new(".")).read_dir();
    let prefix = lock_path(database, "");
    let Some(prefix) = prefix.file_name().map(|name| name.as_encoded_bytes()) else {
        return;
    };
    for file in files.into_iter().flatten().flatten() {
        if file.file_name().as_encoded_bytes().starts_with(prefix) {
            remove_if_unlocked(&file.path());
        }
    }
}

fn lock_path(database: &Path, name: &str) -> PathBuf {
    let mut path = OsString::from(database);
    path.push(LOCK_SUFFIX);
    path.push(name);
    path.into()
}
