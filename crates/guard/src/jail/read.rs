//! A path in, the text of a regular file out.

use std::fs::File;
use std::io::Read;

use cap_std::fs::OpenOptions;

use super::{Asked, Jail, JailError};

/// The text of a file, perhaps only its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileText {
    /// The text; bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub text: String,
    /// Whether the file goes on after the text.
    pub cut: bool,
    /// How many bytes the whole file had when it was opened.
    pub size: u64,
}

impl Jail {
    /// Opens a regular file for reading.
    ///
    /// # Errors
    ///
    /// When nothing is there, it is no regular file, or it is outside.
    pub fn open(&self, path: &str) -> Result<File, JailError> {
        let asked = self.asked(path)?;
        self.open_file(asked)
    }

    /// Reads a text file, up to the jail's [`max_bytes`](Jail::max_bytes).
    ///
    /// # Errors
    ///
    /// As [`open`](Jail::open); also when the file holds NUL bytes, which no text does.
    pub fn read(&self, path: &str) -> Result<FileText, JailError> {
        let asked = self.asked(path)?;
        let file = self.open_file(asked)?;
        let failed = |error| asked.refused(error);
        let size = file.metadata().map_err(failed)?.len();
        // One byte more than may be kept tells whether there is more.
        let limit = u64::try_from(self.max_bytes).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let cut = bytes.len() > self.max_bytes;
        bytes.truncate(self.max_bytes);
        if bytes.contains(&0) {
            return Err(JailError::NotText { path: asked.name() });
        }
        Ok(FileText {
            text: crate::text::lossy(bytes, cut),
            cut,
            size,
        })
    }

    fn open_file(&self, asked: Asked<'_>) -> Result<File, JailError> {
        if !asked.look(&self.dir)?.is_file() {
            return Err(asked.not_a_file());
        }
        let file = self
            .dir
            .open_with(asked.path, &reading())
            .map_err(|error| asked.refused(error))?
            .into_std();
        // The look was at a path, which may mean something else by now; this is what was opened.
        match file.metadata() {
            Ok(found) if found.is_file() => Ok(file),
            Ok(_) => Err(asked.not_a_file()),
            Err(error) => Err(asked.refused(error)),
        }
    }
}

/// Opening never waits for a pipe's other end, and never adopts a terminal.
#[cfg(unix)]
fn reading() -> OpenOptions {
    use cap_std::fs::OpenOptionsExt;
    use rustix::fs::OFlags;

    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}
