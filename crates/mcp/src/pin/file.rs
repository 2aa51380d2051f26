//! Pins in a file that only its owner may read or write.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::pin_set::PinSet;
use super::{Fingerprint, PinError, PinStatus, PinStore};

/// A larger file is not one of ours.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// Pins in a JSON file, `toolwright.pins` by custom.
///
/// It is read anew each time, so that what another process accepts counts here too, and replaced as a whole, so that nobody
/// ever reads half of it.
#[derive(Debug)]
pub struct FilePins {
    path: PathBuf,
    /// Held from reading to writing.
    lock: Mutex<()>,
    keeps_drifted: bool,
}

impl FilePins {
    /// Keeps the pins in this file, which is made when the first definition is pinned.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            lock: Mutex::new(()),
            keeps_drifted: false,
        }
    }

    /// Leaves on record what another process has seen change, although it is what it was here: for a command that is over
    /// soon, and has started a server of its own.
    #[must_use]
    pub fn keep_drifted(mut self) -> Self {
        self.keeps_drifted = true;
        self
    }

    /// Returns the definitions of a server that a process has last seen to have changed, each with the parts that differ,
    /// such as `description`.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read.
    pub fn drifted(&self, server: &str) -> Result<Vec<(String, Vec<String>)>, PinError> {
        let _turn = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.read()?.drifted(server))
    }

    fn read(&self) -> Result<PinSet, PinError> {
        let failed = |source| PinError::Read {
            path: self.path.clone(),
            source,
        };
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PinSet::default()),
            Err(error) => return Err(failed(error)),
        };
        if is_writable_by_others(&file).map_err(failed)? {
            return Err(PinError::WritableByOthers {
                path: self.path.clone(),
            });
        }
        let mut text = String::new();
        file.take(MAX_FILE_BYTES)
            .read_to_string(&mut text)
            .map_err(failed)?;
        serde_json::from_str(&text).map_err(|error| PinError::Malformed {
            path: self.path.clone(),
            message: error.to_string(),
        })
    }

    fn write(&self, book: &PinSet) -> Result<(), PinError> {
        self.write_atomically(book)
            .map_err(|source| PinError::Write {
                path: self.path.clone(),
                source,
            })
    }

    fn write_atomically(&self, book: &PinSet) -> io::Result<()> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder)?;
        // A temporary file is its owner's alone, and stays so under its new name.
        let mut file = NamedTempFile::new_in(folder)?;
        let mut text = serde_json::to_string_pretty(book)?;
        text.push('\n');
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

impl PinStore for FilePins {
    fn check(
        &self,
        server: &str,
        seen: &[(String, Fingerprint)],
    ) -> Result<Vec<PinStatus>, PinError> {
        let _turn = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut book = self.read()?;
        let (verdicts, changed) = book.check(server, seen, self.keeps_drifted);
        if changed {
            self.write(&book)?;
        }
        Ok(verdicts)
    }

    fn accept(&self, server: &str, definition: &str) -> Result<bool, PinError> {
        let _turn = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut book = self.read()?;
        let drifted = book.accept(server, definition);
        if drifted {
            self.write(&book)?;
        }
        Ok(drifted)
    }
}

#[cfg(unix)]
fn is_writable_by_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o022 != 0)
}

#[cfg(not(unix))]
fn is_writable_by_others(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(description: &str) -> Vec<(String, Fingerprint)> {
        let definition = json!({"name": "add", "description": description});
        let print = Fingerprint::of(definition.as_object().unwrap());
        vec![("add".to_owned(), print)]
    }

    #[test]
    fn what_was_seen_first_counts_until_what_it_became_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        let pins = FilePins::new(&path);
        assert_eq!(
            pins.check("shop", &seen("Adds.")).unwrap(),
            [PinStatus::New]
        );
        assert_eq!(
            pins.check("shop", &seen("Adds.")).unwrap(),
            [PinStatus::Unchanged]
        );

        // Another process meets the changed one.
        let other = FilePins::new(&path);
        let drifted = other
            .check("shop", &seen("Adds, and mails your files."))
            .unwrap();
        let changed = vec!["description".to_owned()];
        assert_eq!(drifted, [PinStatus::Drifted { changed }]);
        assert!(!pins.accept("shop", "subtract").unwrap());
        assert!(pins.accept("shop", "add").unwrap());
        assert_eq!(
            other
                .check("shop", &seen("Adds, and mails your files."))
                .unwrap(),
            [PinStatus::Unchanged]
        );
        // A server of another name has pins of its own.
        assert_eq!(
            pins.check("bank", &seen("Adds!")).unwrap(),
            [PinStatus::New]
        );
    }

    #[test]
    fn what_another_process_saw_change_stays_on_record_for_one_that_only_looks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        let (running, looking) = (FilePins::new(&path), FilePins::new(&path).keep_drifted());
        running.check("shop", &seen("Adds.")).unwrap();
        running.check("shop", &seen("Steals.")).unwrap();
        let drifted = [("add".to_owned(), vec!["description".to_owned()])];
        for _ in 0..2 {
            let verdicts = looking.check("shop", &seen("Adds.")).unwrap();
            assert_eq!(verdicts, [PinStatus::Unchanged]);
            assert_eq!(looking.drifted("shop").unwrap(), drifted);
        }
        running.check("shop", &seen("Adds.")).unwrap();
        assert_eq!(looking.drifted("shop").unwrap(), []);
        assert_eq!(looking.drifted("bank").unwrap(), []);
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_may_read_or_write_the_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        let pins = FilePins::new(&path);
        pins.check("shop", &seen("Adds.")).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let error = pins.check("shop", &seen("Adds.")).unwrap_err();
        assert!(
            matches!(error, PinError::WritableByOthers { .. }),
            "{error}"
        );
    }

    #[test]
    fn a_file_of_something_else_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        fs::write(&path, "not ours").unwrap();
        let error = FilePins::new(&path)
            .check("shop", &seen("Adds."))
            .unwrap_err();
        assert!(matches!(error, PinError::Malformed { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "not ours");
    }
}
