//! The error type of all commands: a message and an exit code.

use std::error::Error;
use std::process::ExitCode;

use toolwright_core::schema::redact;

use crate::terminal::output;

/// A message for stderr and an exit code.
#[derive(Debug)]
pub(crate) struct CliError {
    message: String,
    code: u8,
}

impl CliError {
    /// A command that failed: exit code 1.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// A wrong command line: exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }

    /// The message, with secrets redacted.
    pub(crate) fn message(&self) -> String {
        redact(&self.message).into_owned()
    }

    /// Prints the message to stderr and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        output::print_stderr(&format!("error: {}\n", self.message()));
        ExitCode::from(self.code)
    }
}

impl<E: Error> From<E> for CliError {
    /// Fails with the message of [`error_chain`].
    fn from(error: E) -> Self {
        Self::failure(error_chain(&error))
    }
}

/// The messages of an error and its sources, joined by colons; a source that its parent's message already ends with is left out.
pub(crate) fn error_chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_message = cause.to_string();
        if !message.ends_with(&cause_message) {
            message.push_str(&format!(": {cause_message}"));
        }
        source = cause.source();
    }
    message
}
