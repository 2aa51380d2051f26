//! A process in, whether it is still there out: each holds a lock for as long as it lives.
//!
//! Without it, whoever starts again after a crash would wait until the leases of the crashed process are over. A file system
//! that knows no locks keeps everybody alive, and then that is what happens.

use std::ffi::OsString;
use std::fs::{File, TryLockError, remove_file};
use std::io;
use std::path::{Path, PathBuf};

use toolwright_chat::StoreError;

use super::file;
use crate::codec;

/// What the file with the lock is called after that of the database.
const SIGN: &str = "-alive-";

/// The sign that this process lives.
pub(super) struct Alive {
    name: String,
    path: PathBuf,
    /// Unlocked when it is closed, however the process ends.
    _file: File,
}

impl Alive {
    /// Shows that this process lives, and removes the signs of those that do not.
    pub(super) fn begin(database: &Path) -> Result<Self, StoreError> {
        sweep(database);
        loop {
            let name: String = codec::key()?.chars().take(16).collect();
            let path = sign(database, &name);
            let file = file::open(&path).map_err(|error| file::trouble(&path, error))?;
            // Somebody who sweeps may have been faster.
            let locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if locked && path.exists() {
                return Ok(Self {
                    name,
                    path,
                    _file: file,
                });
            }
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        let _ = remove_file(&self.path);
    }
}

/// Whether the process of this name is gone; what is no name of ours names no file, either.
pub(super) fn is_gone(database: &Path, name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_left(&sign(database, name))
}

/// Whether nobody holds a sign any more; then it is removed.
fn is_left(sign: &Path) -> bool {
    match File::open(sign) {
        Ok(file) => {
            let left = file.try_lock().is_ok();
            if left {
                let _ = remove_file(sign);
            }
            left
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn sweep(database: &Path) {
    let directory = database.parent().filter(|it| !it.as_os_str().is_empty());
    let signs = directory.unwrap_or(Path::new(".")).read_dir();
    let ours = sign(database, "");
    let Some(ours) = ours.file_name().map(|name| name.as_encoded_bytes()) else {
        return;
    };
    for beside in signs.into_iter().flatten().flatten() {
        if beside.file_name().as_encoded_bytes().starts_with(ours) {
            is_left(&beside.path());
        }
    }
}

fn sign(database: &Path, name: &str) -> PathBuf {
    let mut path = OsString::from(database);
    path.push(SIGN);
    path.push(name);
    path.into()
}
