//! Why a command ends without doing its work, and with which exit code.

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
    /// Something was found to be wrong: exit 1. The whole chain of causes is told.
    pub(crate) fn from_error(error: &dyn Error) -> Self {
        Self::failure(error_chain(error))
    }

    /// Something was found to be wrong, in these words: exit 1.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 1,
        }
    }

    /// The command line was wrong: exit 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 2,
        }
    }

    /// What is told of it, without secrets.
    pub(crate) fn message(&self) -> String {
        redact(&self.message).into_owned()
    }

    /// Tells stderr, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        output::print_stderr(&format!("error: {}\n", self.message()));
        ExitCode::from(self.code)
    }
}

/// An error and what it comes from, none of it twice.
pub(crate) fn error_chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let told = cause.to_string();
        if !message.ends_with(&told) {
            message.push_str(&format!(": {told}"));
        }
        source = cause.source();
    }
    message
}
