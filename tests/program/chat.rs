//! `chat`: one message, a session through a pipe, a session in a terminal.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use test_support::CommandOutput;

mod demo;
mod once;
mod session;
mod terminal;

use crate::vendor::MockVendor;

/// A home directory without settings, keys or history.
struct TestHome(tempfile::TempDir);

impl TestHome {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// `toolwright chat` with an empty environment.
    fn chat(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        self.set_environment(&mut command);
        command.arg("chat").args(arguments);
        command
    }

    fn set_environment(&self, command: &mut Command) {
        command.env_clear().current_dir(self.0.path());
        command.env("HOME", self.0.path()).env("TERM", "xterm");
        // A port without a listener.
        command.env("OLLAMA_HOST", "http://127.0.0.1:1");
        command.stdin(Stdio::null());
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.chat(arguments).output().unwrap().into()
    }

    /// `toolwright chat` with the test vendor as the model.
    fn ask(&self, vendor: &MockVendor, arguments: &[&str]) -> Command {
        let mut command = self.chat(arguments);
        use_vendor(&mut command, vendor);
        command
    }
}

fn use_vendor(command: &mut Command, vendor: &MockVendor) {
    command.env("TOOLWRIGHT_MODEL", "openai-chat:test");
    command.env("OPENAI_BASE_URL", &vendor.base);
    command.env("OPENAI_API_KEY", "a key");
}

/// Runs a command with these lines on stdin.
fn run_with_stdin(mut command: Command, lines: &str) -> CommandOutput {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap().into()
}

fn events(out: &str) -> Vec<Value> {
    let lines = out.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}
