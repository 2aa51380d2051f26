//! A jail beside a secret.

use std::fs;
use std::path::PathBuf;

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
