//! A definition in, whether it is still the one that was first seen out.
//!
//! A server can win trust with a harmless tool and change it later. So each definition is pinned when it is first seen; one
//! that has drifted from its pin is hidden until somebody accepts what it has become.

mod file;
mod fingerprint;
mod memory;
mod pin_set;

use std::io;
use std::path::PathBuf;

pub use file::FilePins;
pub use fingerprint::Fingerprint;
pub use memory::MemoryPins;

/// Remembers what the definitions of each server looked like.
///
/// A definition goes by the name its server gives it; that of a prompt begins with `prompt:`.
pub trait PinStore: Send + Sync {
    /// Compares definitions with their pins, and pins those that are seen for the first time.
    ///
    /// The verdicts stand in the order of the definitions. One that has drifted is remembered, to be accepted.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read or written; then nothing is known to be what it was.
    fn check(
        &self,
        server: &str,
        seen: &[(String, Fingerprint)],
    ) -> Result<Vec<PinStatus>, PinError>;

    /// Pins what a definition was last seen to have become; tells whether it had drifted.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read or written.
    fn accept(&self, server: &str, definition: &str) -> Result<bool, PinError>;
}

/// What a pin says about a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinStatus {
    /// It was never seen before, and is pinned now.
    New,
    /// It is what it was.
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
        /// What the system says.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the pins to {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not what we wrote.
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
