//! The MCP servers of the settings: attached, changed, unreachable, or hosted by the vendor.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use test_support::CommandOutput;

mod changed_tool;
mod fastmcp;
mod groups;
mod self_attach;
mod terminal;
mod unreachable;

const TOOLWRIGHT: &str = env!("CARGO_BIN_EXE_toolwright");

/// A project directory with settings, which is also the home directory.
struct TestProject(tempfile::TempDir);

impl TestProject {
    fn with(settings: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write("toolwright.toml", settings);
        project
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("HOME", self.path()).env("PATH", path);
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        run_command(self.command(TOOLWRIGHT).args(arguments))
    }
}

fn run_command(command: &mut Command) -> CommandOutput {
    command.output().unwrap().into()
}
