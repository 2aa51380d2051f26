//! The exit code and the output of a command.

use std::process::Output;

/// The exit code and the output of a command, as text.
#[derive(Debug)]
pub struct CommandOutput {
    /// The exit code; `None` if a signal has ended it.
    pub code: Option<i32>,
    /// Its stdout.
    pub out: String,
    /// Its stderr.
    pub err: String,
}

impl CommandOutput {
    /// Asserts that the command succeeded.
    pub fn assert_success(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Asserts the exit code, a part of stderr, and that stdout is empty.
    pub fn assert_failure(&self, code: i32, words: &str) {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        assert!(self.err.contains(words), "`{words}` is not in {self:?}");
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
