//! Why settings cannot be loaded, or one cannot be read.

use std::io;
use std::path::PathBuf;

use super::origin::Origin;

/// Why settings cannot be loaded, or one cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Nothing sets it, and it has no default.
    #[error("setting `{key}` is missing: set it in {file}, or set {variable}")]
    Missing {
        /// The key.
        key: String,
        /// The name of the config file that could set it.
        file: String,
        /// The environment variable that could set it.
        variable: String,
    },
    /// Another setting is of no use without it.
    #[error("setting `{key}` is missing, but `{because}` is set ({origin}): set both or neither")]
    Incomplete {
        /// The key that is missing.
        key: String,
        /// The key that needs it.
        because: String,
        /// Where that one is set.
        origin: Origin,
    },
    /// It is set to something that cannot be read as the type asked for.
    #[error("setting `{key}` ({origin}): {problem}")]
    Invalid {
        /// The key.
        key: String,
        /// Where it is set.
        origin: Origin,
        /// What was expected, and what was found unless that may be a secret.
        problem: String,
    },
    /// The config file that was asked for is not there.
    #[error("there is no config file {}: check the path", path.display())]
    FileNotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// The config file is neither TOML nor properties, by its name.
    #[error("cannot tell the format of {}: end its name with .toml or .properties", path.display())]
    UnknownFormat {
        /// The path as given.
        path: PathBuf,
    },
    /// The config file is there, but cannot be read.
    #[error("cannot read {}: check that it is a file you may read", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The config file is not well-formed.
    #[error("{}:{line}: {problem}", path.display())]
    Malformed {
        /// The path.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong and what was expected.
        problem: String,
    },
}
