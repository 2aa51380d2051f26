//! Why a command ends without doing its work, and with which exit code.

use std::error::Error;
use std::process::ExitCode;

use toolwright_core::schema::redact;

/// A message for stderr and an exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// Something was found to be wrong: exit 1. The whole chain of causes is told.
    pub(crate) fn finding(error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        Self { message, code: 1 }
    }

    /// The command line was wrong: exit 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 2,
        }
    }

    /// Tells stderr, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        eprintln!("error: {}", redact(&self.message));
        ExitCode::from(self.code)
    }
}
