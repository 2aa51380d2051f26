//! Runs commands in the folder of the workspace.

use std::fmt;
use std::io::{self, BufRead as _, PipeReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The folder of the workspace; every command runs in it.
pub(crate) fn workspace_root() -> PathBuf {
    // The variable is set by each `cargo run`, so a checkout may move without a rebuild.
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_dir.parent().map(PathBuf::from).unwrap_or(manifest_dir)
}

/// A command to run in the workspace's folder, with the inherited environment (`CI` included) and empty stdin.
pub(crate) struct CommandRunner(Command);

/// The output and exit code of a captured command.
pub(crate) struct CapturedOutput {
    /// Stdout and stderr, interleaved in the order in which they were written.
    pub(crate) output: String,
    /// `None` when a signal ended the program.
    pub(crate) exit: Option<i32>,
}

/// A `cargo` command that refuses to change `Cargo.lock`.
pub(crate) fn cargo_command(subcommand: &str, args: &[&str]) -> CommandRunner {
    let mut run = CommandRunner::new("cargo").arg(subcommand);
    // `cargo fmt` has no `--locked`.
    if subcommand != "fmt" {
        run = run.arg("--locked");
    }
    if std::env::var_os("CI").is_some() {
        // Incremental data fills the disk, and in CI no later build uses it. Property tests explore with a new seed
        // on a developer's machine; in CI they repeat one, so that a change fails for its own faults only.
        run = run.env("CARGO_INCREMENTAL", "0").env("PROPTEST_RNG_SEED", "1");
    }
    run.args(args)
}

impl CommandRunner {
    pub(crate) fn new(program: &str) -> Self {
        let mut command = Command::new(program);
        command.current_dir(workspace_root()).stdin(Stdio::null());
        Self(command)
    }

    /// A program, then its arguments.
    pub(crate) fn from_words(words: &[&str]) -> Self {
        let (program, args) = words.split_first().map_or(("", words), |(p, a)| (*p, a));
        Self::new(program).args(args)
    }

    pub(crate) fn arg(mut self, arg: &str) -> Self {
        self.0.arg(arg);
        self
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs it in this folder instead of that of the workspace.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Prints the command and runs it with inherited stdout and stderr.
    pub(crate) fn run_inherited(mut self) -> Result<(), String> {
        println!("$ {self}");
        let status = self.0.status().map_err(|error| self.start_error(&error))?;
        if status.success() { Ok(()) } else { Err(format!("`{self}` ended with {status}")) }
    }

    /// Prints the command and runs it; each line of its output is printed, and passed to `on_line`.
    pub(crate) fn run_with_lines(self, mut on_line: impl FnMut(&str)) -> Result<(), String> {
        let shown = self.to_string();
        println!("$ {shown}");
        let failed = |error: io::Error| format!("cannot run `{shown}`: {error}");
        let (mut child, reader) = self.spawn_with_pipe().map_err(failed)?;
        let mut reader = io::BufReader::new(reader);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            on_line(&text);
            line.clear();
        }
        let status = child.wait().map_err(failed)?;
        if status.success() { Ok(()) } else { Err(format!("`{shown}` ended with {status}")) }
    }

    /// Runs it without output; returns true if it succeeded.
    pub(crate) fn succeeds(mut self) -> bool {
        self.0.stdout(Stdio::null()).stderr(Stdio::null());
        self.0.status().is_ok_and(|status| status.success())
    }

    /// Runs it and returns stdout.
    pub(crate) fn stdout(mut self) -> Result<String, String> {
        let output = self.0.output().map_err(|error| self.start_error(&error))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!("`{self}` ended with {}", output.status))
        }
    }

    /// Runs it and returns its output; kills a program that is still running after `timeout`.
    pub(crate) fn capture(self, timeout: Duration) -> Result<CapturedOutput, String> {
        let shown = self.to_string();
        let failed = |error: io::Error| format!("cannot run `{shown}`: {error}");
        let (mut child, mut reader) = self.spawn_with_pipe().map_err(failed)?;
        let (done, finished) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = reader.read_to_end(&mut bytes);
            done.send(read.map(|_| bytes))
        });
        let Ok(bytes) = finished.recv_timeout(timeout) else {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Err(format!("`{shown}` was still running after {} s", timeout.as_secs()));
        };
        Ok(CapturedOutput {
            output: String::from_utf8_lossy(&bytes.map_err(failed)?).into_owned(),
            exit: child.wait().map_err(failed)?.code(),
        })
    }

    /// Starts it, with stdout and stderr in one pipe.
    fn spawn_with_pipe(mut self) -> io::Result<(Child, PipeReader)> {
        let (reader, writer) = io::pipe()?;
        self.0.stdout(writer.try_clone()?).stderr(writer);
        // `self` has this process's copies of the writing end: the reader sees the end of the pipe once they are closed.
        self.0.spawn().map(|child| (child, reader))
    }

    fn start_error(&self, error: &io::Error) -> String {
        format!("cannot start `{self}`: {error}")
    }
}

/// The command as a shell line.
impl fmt::Display for CommandRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.0.get_envs() {
            if let Some(value) = value {
                let value = shell_quote(&value.to_string_lossy());
                write!(f, "{}={value} ", name.to_string_lossy())?;
            }
        }
        write!(f, "{}", shell_quote(&self.0.get_program().to_string_lossy()))?;
        for arg in self.0.get_args() {
            write!(f, " {}", shell_quote(&arg.to_string_lossy()))?;
        }
        Ok(())
    }
}

fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_a_shell_line() {
        let run = CommandRunner::from_words(&["cargo", "doc", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(run.to_string(), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
    }

    #[test]
    fn both_streams_and_the_exit_code_are_captured() {
        let run = CommandRunner::from_words(&["cargo", "no-such-command"]);
        let captured = run.capture(Duration::from_secs(60)).expect("cargo starts");
        assert!(captured.output.contains("no-such-command"));
        assert_eq!(captured.exit, Some(101));
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let error = CommandRunner::new("no-such-program").run_inherited().expect_err("refused");
        assert!(error.contains("`no-such-program`"), "{error}");
    }
}
