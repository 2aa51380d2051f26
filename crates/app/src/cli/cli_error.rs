//! The error type of all commands: a message and an exit code.

use std::error::Error;
use std::process::ExitCode;

pub(crate) use crate::error::error_chain;
use toolwright_core::schema::redact;

use crate::AppError;
use crate::cli::terminal::output;

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

impl<E: Error + 'static> From<E> for CliError {
    /// Fails with the message of [`error_chain`]; an [`AppError`] may be a wrong command line.
    fn from(error: E) -> Self {
        let message = error_chain(&error);
        let app_error = (&error as &dyn Error).downcast_ref::<AppError>();
        match app_error.is_some_and(AppError::is_usage) {
            true => Self::usage(message),
            false => Self::failure(message),
        }
    }
}
