//! How bad a log message is.

use serde::{Deserialize, Serialize};

/// How bad a log message is; worse is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LogLevel {
    /// For whoever looks for a mistake.
    Debug,
    /// What happens anyway.
    Info,
    /// Worth noting.
    Notice,
    /// Something is odd.
    Warning,
    /// Something failed.
    Error,
    /// Part of the system failed.
    Critical,
    /// Somebody has to act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LogLevel {
    /// Finds the level of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}
