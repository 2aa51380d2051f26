//! The errors of a jail; their messages name paths as the model wrote them, never paths of the host.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::JailPath;

/// Why a path cannot be used.
///
/// The messages are for the model and name paths as it wrote them; paths and errors of the host are in
/// the fields and sources.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JailError {
    /// The path, or a link on it, leads out of the jail.
    #[error("`{path}` leads out of the directory that tools may use")]
    Outside {
        /// The path.
        path: String,
    },
    /// The path is invalid.
    #[error("the path {reason}")]
    Malformed {
        /// The problem, as the rest of the sentence.
        reason: &'static str,
    },
    /// The path does not exist.
    #[error("`{path}` does not exist")]
    Missing {
        /// The path.
        path: String,
    },
    /// The file exists and must not be overwritten.
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
    /// The path, or a part of it that has to be a directory, is something else.
    #[error("`{path}` is not a directory")]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// The file contains NUL bytes, so it is no text.
    #[error("`{path}` is not a text file")]
    NotText {
        /// The path.
        path: String,
    },
    /// The text to write is too long.
    #[error("`{path}` cannot take {bytes} bytes: at most {limit} may be written")]
    TooLong {
        /// The path.
        path: String,
        /// The length of the text in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// The operating system denies access.
    #[error("`{path}` may not be used: permission denied")]
    Denied {
        /// The path.
        path: String,
    },
    /// Any other error of the operating system.
    #[error("`{path}` cannot be used")]
    Io {
        /// The path.
        path: String,
        /// The error; for the host program.
        source: io::Error,
    },
    /// The jail's own directory cannot be opened.
    #[error("the directory that tools may use cannot be opened")]
    Root {
        /// The directory; for the host program.
        dir: PathBuf,
        /// The error of the operating system; for the host program.
        source: io::Error,
    },
}

impl JailPath<'_> {
    /// The path as error messages show it.
    pub(super) fn name(self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn outside(self) -> JailError {
        JailError::Outside { path: self.name() }
    }

    pub(super) fn not_a_file(self) -> JailError {
        JailError::NotAFile { path: self.name() }
    }

    /// Converts an error of the operating system.
    pub(super) fn io_error(self, source: io::Error) -> JailError {
        let path = self.name();
        match source.kind() {
            ErrorKind::NotFound => JailError::Missing { path },
            ErrorKind::AlreadyExists => JailError::Exists { path },
            ErrorKind::IsADirectory => JailError::NotAFile { path },
            ErrorKind::NotADirectory => JailError::NotADirectory { path },
            // `cap-std` reports a path that leads outside as this kind, but without an OS error code.
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
