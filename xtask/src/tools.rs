//! Installs programs from crates.io below `target/tools`, at pinned versions.

use crate::command_runner::{CommandRunner, cargo_command, workspace_root};

/// Where programs are installed, if they are not on the PATH.
pub(crate) const FOLDER: &str = "target/tools";

/// A program of crates.io, whose name is that of its crate.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

impl Tool {
    /// The program, installed unless this version is there.
    pub(crate) fn find(&self) -> Result<String, String> {
        let program = workspace_root().join(FOLDER).join("bin").join(self.name);
        let program = program.display().to_string();
        let version = CommandRunner::new(&program).arg("--version").stdout().unwrap_or_default();
        if version.split_whitespace().any(|word| word.trim_start_matches('v') == self.version) {
            return Ok(program);
        }
        let package = format!("{}@{}", self.name, self.version);
        println!("{package} is missing, and compiled now: this takes some minutes, once");
        cargo_command("install", &["--root", FOLDER, &package])
            .env("CARGO_TARGET_DIR", "target/tools-build")
            .run_inherited()?;
        Ok(program)
    }
}
