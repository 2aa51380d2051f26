//! Detects definitions of tools and prompts that have changed since they were first seen.
//!
//! A server can gain trust with a harmless tool and change it later. So each definition is pinned when it is first seen; one
//! that has drifted from its pin is hidden until the operator accepts the change.

mod file;
mod fingerprint;
mod memory;
mod pin_set;

use std::io;
use std::path::PathBuf;

pub use file::FilePins;
pub use fingerprint::Fingerprint;
pub use memory::MemoryPins;

/// Stores the fingerprints of each server's definitions.
///
/// A definition is identified by the server's name of it; that of a prompt has the prefix `prompt:`.
pub trait PinStore: Send + Sync {
    /// Compares definitions with their pins, and pins those that are seen for the first time.
    ///
    /// The statuses are in the order of the definitions. The fingerprint of a drifted one is stored, to be accepted.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read or written; then no definition may be used.
    fn check(
        &self,
        server: &str,
        definitions: &[(String, Fingerprint)],
    ) -> Result<Vec<PinStatus>, PinError>;

    /// Pins the last seen version of a definition; returns false if it had not drifted.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read or written.
    fn accept(&self, server: &str, definition: &str) -> Result<bool, PinError>;
}

/// A definition compared with its pin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinStatus {
    /// It had no pin, and has one now.
    New,
    /// It has not changed since it was pinned.
    Unchanged,
    /// It has changed since it was pinned.
    Drifted {
        /// The parts that differ, such as `description` or `inputSchema`.
        changed: Vec<String>,
    },
}

/// Why pins cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// The file cannot be read.
    #[error("cannot read the pins in {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the pins to {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is no file of pins.
    #[error("{} is no file of pins: {message}; move it away to start anew", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Others may change the file.
    #[error("others may write to {}, so its pins prove nothing: allow only its owner to", path.display())]
    WritableByOthers {
        /// The file.
        path: PathBuf,
    },
}
