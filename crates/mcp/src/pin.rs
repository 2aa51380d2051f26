//! Detects definitions of tools and prompts that have changed since they were first seen.
//!
//! A server can gain trust with a harmless tool and change it later. So each definition is pinned when it is first seen; one
//! that has drifted from its pin is hidden until the operator accepts the change.

mod file;
mod fingerprint;
mod memory;
mod pin_set;
mod shared;

use std::io;
use std::path::PathBuf;

use toolwright_core::{BoxFuture, SharedStateError};

pub use file::FilePins;
pub use fingerprint::Fingerprint;
pub use memory::MemoryPins;
pub use shared::SharedPins;

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
    fn check<'a>(
        &'a self,
        server: &'a str,
        definitions: &'a [(String, Fingerprint)],
    ) -> PinFuture<'a, Vec<PinStatus>>;

    /// Pins the last seen version of a definition; returns false if it had not drifted.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read or written.
    fn accept<'a>(&'a self, server: &'a str, definition: &'a str) -> PinFuture<'a, bool>;

    /// Returns the definitions of a server that had changed when they were last seen, each with the parts that differ, such as
    /// `description`; with its [issuer](crate::ISSUER_PIN), the new address.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read.
    fn drifted<'a>(&'a self, server: &'a str) -> PinFuture<'a, Vec<(String, Vec<String>)>>;
}

/// The future of an operation of a [`PinStore`].
pub type PinFuture<'a, T> = BoxFuture<'a, Result<T, PinError>>;

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
    /// The shared state cannot be read or written.
    #[error("the pins that all nodes share cannot be read or written now")]
    Unreachable(#[from] SharedStateError),
    /// The shared pins of a server are malformed, or change all the time.
    #[error("the shared pins of `{server}` cannot be used: {message}")]
    Shared {
        /// The name of the server.
        server: String,
        /// What is wrong with them.
        message: String,
    },
    /// Others may change the file.
    #[error("others may write to {}, so its pins prove nothing: allow only its owner to", path.display())]
    WritableByOthers {
        /// The file.
        path: PathBuf,
    },
}
