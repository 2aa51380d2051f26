//! [`Origin`]: the source of a setting.

use std::fmt;
use std::path::PathBuf;

/// The source of a setting's value.
///
/// Displayed as for example `toolwright.toml:12`, `TOOLWRIGHT_MODEL` or `--model`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A default of the program.
    Default,
    /// A line of a config file.
    File {
        /// The path; only the file's name is displayed.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// An environment variable.
    Environment {
        /// The variable's name.
        variable: String,
    },
    /// A flag of the command line.
    Flag {
        /// The flag with its dashes.
        name: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                write!(f, "{}:{line}", name.display())
            }
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { name } => f.write_str(name),
        }
    }
}
