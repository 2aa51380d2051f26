//! Which programs started this one to attach it: settings that attach the program that reads them would start it for ever.

use std::env;
use std::fs;

use sha2::{Digest as _, Sha256};
use toolwright_core::Config;

/// Names the programs above the one that is started, the nearest last.
pub(crate) const ANCESTORS_VARIABLE: &str = "TOOLWRIGHT_ATTACHED_BY";

/// How a program that finds itself among those above it begins what it says on stderr, so that the one that started it
/// knows why it ends.
pub(crate) const SELF_ATTACH_MESSAGE: &str = "this program attaches itself";

/// Programs that attach one another, each of them once, are seldom more than this.
const MAX_DEPTH: usize = 4;

/// The programs that stand above one, and the program itself.
pub(crate) struct Ancestors {
    parents: Vec<String>,
    current: String,
}

impl Ancestors {
    /// Reads those of this process, which runs under these settings.
    pub(crate) fn read(config: &Config) -> Self {
        let above = config.env_var(ANCESTORS_VARIABLE);
        let above = above.map_or_else(Vec::new, |above| {
            above.expose().split(',').map(str::to_owned).collect()
        });
        let this = program_id(config);
        Self {
            parents: above,
            current: this,
        }
    }

    /// Tells whether this process was started, perhaps by way of others, by the same program with the same settings.
    pub(crate) fn include_self(&self) -> bool {
        self.parents.contains(&self.current)
    }

    /// Tells whether so many programs stand above this one that it starts no more.
    pub(crate) fn are_too_deep(&self) -> bool {
        self.parents.len() >= MAX_DEPTH
    }

    /// Returns the value of [`VARIABLE`] for a child process.
    pub(crate) fn child_variable(&self) -> String {
        let mut all = self.parents.clone();
        all.push(self.current.clone());
        all.join(",")
    }
}

/// A digest of the program's file and of its settings' file: the same program with other settings is another one.
fn program_id(config: &Config) -> String {
    let program = env::current_exe().and_then(fs::canonicalize);
    let settings = config.file().map(fs::canonicalize);
    let place = format!("{:?} {:?}", program.ok(), settings.and_then(Result::ok));
    let digest = Sha256::digest(place.as_bytes());
    let digest = digest.iter().take(8);
    digest.map(|byte| format!("{byte:02x}")).collect()
}
