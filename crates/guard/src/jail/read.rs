//! Opens and reads regular files.

use std::fs::File;
use std::io::Read;

use cap_std::fs::OpenOptions;

use super::{Jail, JailError, JailPath};

/// The text of a file, perhaps only its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileText {
    /// The text; bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub text: String,
    /// True if the text was truncated.
    pub truncated: bool,
    /// The size of the whole file in bytes, when it was opened.
    pub size: u64,
}

impl Jail {
    /// Opens a regular file for reading.
    ///
    /// # Errors
    ///
    /// When the path does not exist, is no regular file, or leads outside.
    pub fn open(&self, path: &str) -> Result<File, JailError> {
        let target = self.parse_path(path)?;
        self.open_file(target)
    }

    /// Reads a text file, up to the jail's [`max_bytes`](Jail::max_bytes).
    ///
    /// # Errors
    ///
    /// As [`open`](Jail::open); also when the file contains NUL bytes, so that it is no text.
    pub fn read(&self, path: &str) -> Result<FileText, JailError> {
        let target = self.parse_path(path)?;
        let file = self.open_file(target)?;
        let failed = |error| target.io_error(error);
        let size = file.metadata().map_err(failed)?.len();
        // Reads one byte more than the limit, to detect a longer file.
        let limit = u64::try_from(self.max_bytes).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        let truncated = bytes.len() > self.max_bytes;
        bytes.truncate(self.max_bytes);
        if bytes.contains(&0) {
            return Err(JailError::NotText { path: target.name() });
        }
        Ok(FileText { text: crate::text::decode_lossy(bytes, truncated), truncated, size })
    }

    fn open_file(&self, target: JailPath<'_>) -> Result<File, JailError> {
        if !target.metadata(&self.dir)?.is_file() {
            return Err(target.not_a_file());
        }
        let file = self
            .dir
            .open_with(target.path, &read_options())
            .map_err(|error| target.io_error(error))?
            .into_std();
        // The first check was of the path, which may be another file by now; this one is of the open file.
        match file.metadata() {
            Ok(found) if found.is_file() => Ok(file),
            Ok(_) => Err(target.not_a_file()),
            Err(error) => Err(target.io_error(error)),
        }
    }
}

/// Options with which opening neither blocks on a pipe nor acquires a controlling terminal.
#[cfg(unix)]
fn read_options() -> OpenOptions {
    use cap_std::fs::OpenOptionsExt;
    use rustix::fs::OFlags;

    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn read_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}
