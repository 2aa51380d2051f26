//! MCP servers that settings name, as whoever runs a command meets them: attached, changed, dead, or hosted.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[path = "attach/away.rs"]
mod away;
#[path = "attach/changed.rs"]
mod changed;
#[path = "attach/fast.rs"]
mod fast;
#[path = "attach/groups.rs"]
mod groups;
#[path = "attach/itself.rs"]
mod itself;
#[path = "everywhere/lines.rs"]
mod lines;
#[path = "support/real.rs"]
mod real;
#[path = "attach/terminal.rs"]
mod terminal;
#[expect(dead_code, reason = "the tests of `chat` need more of it")]
#[path = "chat/vendor.rs"]
mod vendor;

/// The program.
const TOOLWRIGHT: &str = env!("CARGO_BIN_EXE_toolwright");

/// A project with its own settings, and a home without keys.
struct TestProject(tempfile::TempDir);

#[derive(Debug)]
struct CommandOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

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
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    CommandOutput {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}
