//! The errors of loading and reading settings.

use std::io;
use std::path::PathBuf;

use super::origin::Origin;

/// Why settings cannot be loaded, or one cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The setting is not set, and has no default.
    #[error("setting `{key}` is missing: set it in {file}, or set {variable}")]
    Missing {
        /// The key.
        key: String,
        /// The name of the config file that could set it.
        file: String,
        /// The environment variable that could set it.
        variable: String,
    },
    /// A setting is missing that another one requires.
    #[error(
        "setting `{key}` is missing, but `{required_by}` is set ({origin}): set both or neither"
    )]
    Incomplete {
        /// The missing key.
        key: String,
        /// The key that requires it.
        required_by: String,
        /// The origin of that key.
        origin: Origin,
    },
    /// The value cannot be read as the expected type.
    #[error("setting `{key}` ({origin}): {problem}")]
    Invalid {
        /// The key.
        key: String,
        /// The origin of the value.
        origin: Origin,
        /// The expected type, and the value unless it may be a secret.
        problem: String,
    },
    /// The requested config file does not exist.
    #[error("there is no config file {}: check the path", path.display())]
    FileNotFound {
        /// The path.
        path: PathBuf,
    },
    /// The extension of the config file is neither TOML nor properties.
    #[error("cannot tell the format of {}: end its name with .toml or .properties", path.display())]
    UnknownFormat {
        /// The path.
        path: PathBuf,
    },
    /// The config file exists, but cannot be read.
    #[error("cannot read {}: check that it is a file you may read", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The config file is not well-formed.
    #[error("{}:{line}: {problem}", path.display())]
    Malformed {
        /// The path.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The error, and what was expected.
        problem: String,
    },
}
