//! The name, version and description of a program.

use std::borrow::Cow;

/// The name, version and description of a program, which its MCP server, console, `--help` and telemetry show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppInfo {
    /// The name, by default that of the crate.
    pub name: Cow<'static, str>,
    /// The version, by default that of the crate.
    pub version: Cow<'static, str>,
    /// The description, by default that of the crate; may be empty.
    pub description: Cow<'static, str>,
}

impl AppInfo {
    /// The info of a crate, from the variables that Cargo sets.
    pub const fn new(name: &'static str, version: &'static str, description: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            version: Cow::Borrowed(version),
            description: Cow::Borrowed(description),
        }
    }
}
