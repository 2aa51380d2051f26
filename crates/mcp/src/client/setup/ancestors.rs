//! Detects a program whose settings attach the program itself, which would start it in an endless loop.

use std::env;
use std::fs;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use toolwright_core::Config;

/// The environment variable with the ids of the ancestors of a process, the parent last.
pub(crate) const ANCESTORS_VARIABLE: &str = "TOOLWRIGHT_ATTACHED_BY";

/// The beginning of the message on stderr of a program that finds itself among its ancestors; its parent searches for it.
pub(crate) const SELF_ATTACH_MESSAGE: &str = "this program attaches itself";

/// Attached programs that attach programs are nested no deeper.
const MAX_DEPTH: usize = 4;

/// The ids of the ancestors of this process, and its own.
pub(crate) struct Ancestors {
    parents: Vec<String>,
    current: String,
}

impl Ancestors {
    /// Reads the ancestors of this process, which runs with these settings.
    pub(crate) fn read(config: &Config) -> Self {
        let parents = config.env_var(ANCESTORS_VARIABLE);
        let parents = parents.map_or_else(Vec::new, |parents| {
            parents.expose().split(',').map(str::to_owned).collect()
        });
        Self { parents, current: program_id(config) }
    }

    /// Returns true if the same program with the same settings has started this process, directly or indirectly.
    pub(crate) fn include_self(&self) -> bool {
        self.parents.contains(&self.current)
    }

    /// Returns true if this process has so many ancestors that it may start no more.
    pub(crate) fn are_too_deep(&self) -> bool {
        self.parents.len() >= MAX_DEPTH
    }

    /// Returns the value of [`ANCESTORS_VARIABLE`] for a child process.
    pub(crate) fn child_variable(&self) -> String {
        let mut all = self.parents.clone();
        all.push(self.current.clone());
        all.join(",")
    }
}

/// A digest of the paths of the program and of its settings: the same program with other settings has another id.
fn program_id(config: &Config) -> String {
    let program = env::current_exe().and_then(fs::canonicalize);
    let settings = config.file().map(fs::canonicalize);
    let paths = format!("{:?} {:?}", program.ok(), settings.and_then(Result::ok));
    let digest = Sha256::digest(paths.as_bytes());
    HEXLOWER.encode(digest.get(..8).unwrap_or_default())
}
