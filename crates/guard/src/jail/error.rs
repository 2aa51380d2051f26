//! Why a jail refuses: told in the model's own words, never in the host's.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::Asked;

/// Why a path cannot be used.
///
/// The texts name paths as the model gave them; what only the host should know is in the fields and
/// sources.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JailError {
    /// The path, or a link on it, leads out of the jail.
    #[error("`{path}` leads out of the directory that tools may use")]
    Outside {
        /// The path.
        path: String,
    },
    /// No such path can exist.
    #[error("the path {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    Missing {
        /// The path.
        path: String,
    },
    /// Something is there that must not be overwritten.
    #[error("`{path}` exists already")]
    Exists {
        /// The path.
        path: String,
    },
    /// A directory, a link to be replaced, a pipe, a socket or a device.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// The path.
        path: String,
    },
    /// A directory is wanted, on the way or at the end.
    #[error("`{path}` is not a directory")]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// The file's bytes are no text.
    #[error("`{path}` is not a text file")]
    NotText {
        /// The path.
        path: String,
    },
    /// There is too much to write.
    #[error("`{path}` cannot take {bytes} bytes: at most {limit} may be written")]
    TooLong {
        /// The path.
        path: String,
        /// How many bytes were given.
        bytes: usize,
        /// How many may be given.
        limit: usize,
    },
    /// The host does not permit it.
    #[error("`{path}` may not be used: permission denied")]
    Denied {
        /// The path.
        path: String,
    },
    /// Anything else the operating system reports.
    #[error("`{path}` cannot be used")]
    Io {
        /// The path.
        path: String,
        /// What it reports; for the host.
        source: io::Error,
    },
    /// The jail's own directory cannot be opened.
    #[error("the directory that tools may use cannot be opened")]
    Root {
        /// The directory; for the host.
        dir: PathBuf,
        /// What the operating system reports; for the host.
        source: io::Error,
    },
}

impl Asked<'_> {
    /// The path for people.
    pub(super) fn name(self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn outside(self) -> JailError {
        JailError::Outside { path: self.name() }
    }

    pub(super) fn not_a_file(self) -> JailError {
        JailError::NotAFile { path: self.name() }
    }

    /// Sorts an error of the operating system.
    pub(super) fn refused(self, source: io::Error) -> JailError {
        let path = self.name();
        match source.kind() {
            ErrorKind::NotFound => JailError::Missing { path },
            ErrorKind::AlreadyExists => JailError::Exists { path },
            ErrorKind::IsADirectory => JailError::NotAFile { path },
            ErrorKind::NotADirectory => JailError::NotADirectory { path },
            // `cap-std` reports a way out as this kind, but with no code of the system's.
            ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
                JailError::Outside { path }
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                JailError::Denied { path }
            }
            _ => JailError::Io { path, source },
        }
    }
}
