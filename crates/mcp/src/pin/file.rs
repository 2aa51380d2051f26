//! Pins in a file that only its owner may read or write.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;

use super::pin_set::PinSet;
use super::{Fingerprint, PinError, PinFuture, PinStatus, PinStore};
use crate::lock::lock;

/// A larger file is rejected.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// Pins in a JSON file, by convention `toolwright.pins`.
///
/// It is read for every check, so that what another process accepts counts at once, and replaced atomically, so that no process
/// reads an incomplete file.
#[derive(Debug)]
pub struct FilePins {
    path: PathBuf,
    /// Locked from reading to writing.
    lock: Mutex<()>,
    keeps_drifted: bool,
}

impl FilePins {
    /// Stores the pins in this file, which is created when the first definition is pinned.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), lock: Mutex::new(()), keeps_drifted: false }
    }

    /// Keeps the drift that another process has recorded, even if the definition is unchanged here: for a short-lived command
    /// that has started a server process of its own.
    #[must_use]
    pub fn keep_drifted(mut self) -> Self {
        self.keeps_drifted = true;
        self
    }

    /// Returns the pins of one server.
    pub(super) fn of_server(&self, server: &str) -> Result<PinSet, PinError> {
        let _guard = lock(&self.lock);
        Ok(self.read()?.of_server(server))
    }

    fn read(&self) -> Result<PinSet, PinError> {
        let read_error = |source| PinError::Read { path: self.path.clone(), source };
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PinSet::default()),
            Err(error) => return Err(read_error(error)),
        };
        if is_writable_by_others(&file).map_err(read_error)? {
            return Err(PinError::WritableByOthers { path: self.path.clone() });
        }
        let mut text = String::new();
        file.take(MAX_FILE_BYTES).read_to_string(&mut text).map_err(read_error)?;
        serde_json::from_str(&text).map_err(|error| PinError::Malformed {
            path: self.path.clone(),
            message: error.to_string(),
        })
    }

    fn write(&self, pins: &PinSet) -> Result<(), PinError> {
        self.write_atomically(pins)
            .map_err(|source| PinError::Write { path: self.path.clone(), source })
    }

    fn write_atomically(&self, pins: &PinSet) -> io::Result<()> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder)?;
        // Only the owner may read a temporary file; that stays so under its new name.
        let mut file = NamedTempFile::new_in(folder)?;
        let mut text = serde_json::to_string_pretty(pins)?;
        text.push('\n');
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

// A file is small and local: reading it blocks no longer than other work of a task does.
impl PinStore for FilePins {
    fn check<'a>(
        &'a self,
        server: &'a str,
        definitions: &'a [(String, Fingerprint)],
    ) -> PinFuture<'a, Vec<PinStatus>> {
        Box::pin(async move {
            let _guard = lock(&self.lock);
            let mut pins = self.read()?;
            let (statuses, changed) = pins.check(server, definitions, self.keeps_drifted);
            if changed {
                self.write(&pins)?;
            }
            Ok(statuses)
        })
    }

    fn accept<'a>(&'a self, server: &'a str, definition: &'a str) -> PinFuture<'a, bool> {
        Box::pin(async move {
            let _guard = lock(&self.lock);
            let mut pins = self.read()?;
            let drifted = pins.accept(server, definition);
            if drifted {
                self.write(&pins)?;
            }
            Ok(drifted)
        })
    }

    fn drifted<'a>(&'a self, server: &'a str) -> PinFuture<'a, Vec<(String, Vec<String>)>> {
        Box::pin(async move {
            let _guard = lock(&self.lock);
            Ok(self.read()?.drifted(server))
        })
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

    #[tokio::test]
    async fn a_definition_is_pinned_until_its_change_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        let pins = FilePins::new(&path);
        assert_eq!(pins.check("shop", &seen("Adds.")).await.unwrap(), [PinStatus::New]);
        assert_eq!(pins.check("shop", &seen("Adds.")).await.unwrap(), [PinStatus::Unchanged]);

        // Another process sees the changed definition.
        let other = FilePins::new(&path);
        let drifted = other.check("shop", &seen("Adds, and mails your files.")).await.unwrap();
        let changed = vec!["description".to_owned()];
        assert_eq!(drifted, [PinStatus::Drifted { changed }]);
        assert!(!pins.accept("shop", "subtract").await.unwrap());
        assert!(pins.accept("shop", "add").await.unwrap());
        assert_eq!(
            other.check("shop", &seen("Adds, and mails your files.")).await.unwrap(),
            [PinStatus::Unchanged]
        );
        // A server of another name has pins of its own.
        assert_eq!(pins.check("bank", &seen("Adds!")).await.unwrap(), [PinStatus::New]);
    }

    #[tokio::test]
    async fn drift_that_another_process_recorded_is_kept_by_one_that_only_checks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        let (running, checking) = (FilePins::new(&path), FilePins::new(&path).keep_drifted());
        running.check("shop", &seen("Adds.")).await.unwrap();
        running.check("shop", &seen("Steals.")).await.unwrap();
        let drifted = [("add".to_owned(), vec!["description".to_owned()])];
        for _ in 0..2 {
            let statuses = checking.check("shop", &seen("Adds.")).await.unwrap();
            assert_eq!(statuses, [PinStatus::Unchanged]);
            assert_eq!(checking.drifted("shop").await.unwrap(), drifted);
        }
        running.check("shop", &seen("Adds.")).await.unwrap();
        assert_eq!(checking.drifted("shop").await.unwrap(), []);
        assert_eq!(checking.drifted("bank").await.unwrap(), []);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_its_owner_may_read_or_write_the_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        let pins = FilePins::new(&path);
        pins.check("shop", &seen("Adds.")).await.unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let error = pins.check("shop", &seen("Adds.")).await.unwrap_err();
        assert!(matches!(error, PinError::WritableByOthers { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_file_without_pins_is_rejected_and_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        fs::write(&path, "not ours").unwrap();
        let error = FilePins::new(&path).check("shop", &seen("Adds.")).await.unwrap_err();
        assert!(matches!(error, PinError::Malformed { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "not ours");
    }
}
