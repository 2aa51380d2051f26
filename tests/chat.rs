//! `chat` as its user meets it: one question, a session through a pipe, a session in a terminal.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

#[path = "chat/demo.rs"]
mod demo;
#[path = "chat/once.rs"]
mod once;
#[path = "chat/session.rs"]
mod session;
#[path = "chat/terminal.rs"]
mod terminal;
#[path = "chat/vendor.rs"]
mod vendor;

use vendor::Vendor;

/// A home without settings, keys or history.
struct TestHome(tempfile::TempDir);

impl TestHome {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The program, in an environment of its own.
    fn chat(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        self.set_environment(&mut command);
        command.arg("chat").args(arguments);
        command
    }

    fn set_environment(&self, command: &mut Command) {
        command.env_clear().current_dir(self.0.path());
        command.env("HOME", self.0.path()).env("TERM", "xterm");
        // Nobody listens there.
        command.env("OLLAMA_HOST", "http://127.0.0.1:1");
        command.stdin(Stdio::null());
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        command_output(&self.chat(arguments).output().unwrap())
    }

    /// Asks a vendor on this machine.
    fn ask(&self, vendor: &Vendor, arguments: &[&str]) -> Command {
        let mut command = self.chat(arguments);
        use_vendor(&mut command, vendor);
        command
    }
}

fn use_vendor(command: &mut Command, vendor: &Vendor) {
    command.env("TOOLWRIGHT_MODEL", "openai-chat:test");
    command.env("OPENAI_BASE_URL", &vendor.base);
    command.env("OPENAI_API_KEY", "a key");
}

#[derive(Debug)]
struct CommandOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

fn command_output(output: &Output) -> CommandOutput {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    CommandOutput {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// Types these lines into a pipe.
fn run_with_stdin(mut command: Command, lines: &str) -> CommandOutput {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    command_output(&child.wait_with_output().unwrap())
}

fn events(out: &str) -> Vec<Value> {
    let lines = out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
