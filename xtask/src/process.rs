//! Runs programs in the folder of the workspace.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often a program that prints nothing is asked whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The folder of the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    // Each `cargo run` sets the variable, so a checkout may move without a rebuild.
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_dir.parent().map(PathBuf::from).unwrap_or(manifest_dir)
}

/// A program with its arguments. It runs in the folder of the workspace, with empty stdin.
pub(crate) struct Program(Command);

impl Program {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.current_dir(workspace_root()).stdin(Stdio::null());
        // `cargo run` has set these for xtask. Build scripts ask for them, and would run again whenever a person starts Cargo
        // without xtask: with them, half of the dependencies are compiled once more.
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            if shown.starts_with("CARGO_PKG_") || shown.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        if std::env::var_os("CI").is_some() {
            // Incremental data fills the disk, and no later build in CI uses it. Property tests explore with a new seed
            // on a developer's machine; in CI they repeat one, so that a change fails for its own faults only.
            command.env("CARGO_INCREMENTAL", "0").env("PROPTEST_RNG_SEED", "1");
        }
        Self(command)
    }

    /// A command of Cargo that refuses to change `Cargo.lock`.
    pub(crate) fn cargo(subcommand: &str, args: &[&str]) -> Self {
        // `cargo fmt` has no `--locked`.
        let locked: &[&str] = if subcommand == "fmt" { &[] } else { &["--locked"] };
        Self::new("cargo").args(&[subcommand]).args(locked).args(args)
    }

    /// A script for a shell, which ends at the first command that fails.
    pub(crate) fn shell(script: &str) -> Self {
        Self::new("sh").args(&["-euc", script])
    }

    pub(crate) fn git(args: &[&str]) -> Self {
        Self::new("git").args(args)
    }

    pub(crate) fn args(mut self, args: &[impl AsRef<OsStr>]) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs it in this folder instead of that of the workspace.
    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// The first line of a script is enough.
    fn error(&self, what: impl Display) -> String {
        format!("`{}`: {what}", self.shown().lines().next().unwrap_or_default())
    }

    /// The program and its arguments, as they are shown to people.
    fn shown(&self) -> String {
        let words = std::iter::once(self.0.get_program()).chain(self.0.get_args());
        words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
    }

    /// Prints the command and runs it with inherited stdout and stderr; returns that it is fine.
    pub(crate) fn run(mut self) -> Result<String, String> {
        println!("$ {}", self.shown());
        let status = self.0.status().map_err(|error| self.error(error))?;
        if status.success() { Ok("fine".to_owned()) } else { Err(self.error(status)) }
    }

    /// Runs it without output; returns true if it succeeded.
    pub(crate) fn succeeds(mut self) -> bool {
        self.0.stdout(Stdio::null()).stderr(Stdio::null());
        self.0.status().is_ok_and(|status| status.success())
    }

    /// Runs it with inherited stderr, and returns stdout.
    pub(crate) fn stdout(mut self) -> Result<String, String> {
        let output = self.0.stderr(Stdio::inherit()).output().map_err(|error| self.error(error))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(self.error(output.status)),
        }
    }

    /// Runs it and returns stdout and stderr, in the order in which they were written; kills a program that is still running
    /// after `limit`.
    pub(crate) fn capture(self, limit: Duration) -> Result<(String, ExitStatus), String> {
        let mut output = String::new();
        let status = self.lines(limit, |line| output += &format!("{line}\n"))?;
        Ok((output, status))
    }

    /// Runs it and passes each line of stdout and stderr to `on_line`; kills a program that is still running after `limit`.
    pub(crate) fn lines(
        mut self,
        limit: Duration,
        mut on_line: impl FnMut(&str),
    ) -> Result<ExitStatus, String> {
        let shown = self.error("");
        let failed = |error: io::Error| format!("{shown}{error}");
        let (reader, writer) = io::pipe().map_err(failed)?;
        self.0.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
        let mut child = self.0.spawn().map_err(failed)?;
        // It has this process's copies of the writing end: the reader sees the end of the pipe once they are closed.
        drop(self);
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(reader).split(b'\n').map_while(Result::ok);
            // Nobody receives any more once the program has ended.
            lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
        });
        let start = Instant::now();
        loop {
            match lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => on_line(String::from_utf8_lossy(&line).trim_end_matches('\r')),
                Err(RecvTimeoutError::Disconnected) => return child.wait().map_err(failed),
                // A process that it leaves behind may keep the pipe open.
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(status) = child.try_wait().map_err(failed)? {
                        return Ok(status);
                    }
                }
            }
            if start.elapsed() > limit {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                return Err(format!("{shown}still running after {} s", limit.as_secs()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_captured_until_the_program_ends() {
        let start = Instant::now();
        // The process that is left behind keeps the pipe open.
        let program = Program::shell("echo out; echo err >&2; sleep 30 & exit 3");
        let (output, status) = program.capture(Duration::from_secs(20)).expect("a shell");
        assert_eq!((output.as_str(), status.code()), ("out\nerr\n", Some(3)));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_program_that_does_not_end_or_exist_is_named() {
        let error = Program::shell("exec sleep 30").capture(Duration::from_millis(10));
        assert_eq!(error.unwrap_err(), "`sh -euc exec sleep 30`: still running after 0 s");
        let error = Program::new("no-such-program").run().unwrap_err();
        assert!(error.starts_with("`no-such-program`: "), "{error}");
    }
}
