//! Why a program could not start.

use std::error::Error;

use toolwright_core::schema::redact;

/// Why an [`App`](crate::App) could not start: a message for the operator, with secrets redacted.
#[derive(Debug)]
pub struct AppError {
    message: String,
    is_usage: bool,
}

impl AppError {
    pub(crate) fn new(message: impl AsRef<str>) -> Self {
        Self { message: redact(message.as_ref()).into_owned(), is_usage: false }
    }

    /// The cause is in the command line itself.
    pub(crate) fn usage(message: impl AsRef<str>) -> Self {
        Self { is_usage: true, ..Self::new(message) }
    }

    /// Joins the messages of an error and its sources.
    pub(crate) fn from_error(error: &dyn Error) -> Self {
        Self::new(error_chain(error))
    }

    /// Returns true if a flag of the command line has to be changed.
    pub fn is_usage(&self) -> bool {
        self.is_usage
    }
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for AppError {}

/// The errors of the parts become messages with their sources.
macro_rules! from_errors {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for AppError {
            fn from(error: $error) -> Self {
                Self::from_error(&error)
            }
        })+
    };
}

from_errors!(
    std::io::Error,
    toolwright_chat::StoreError,
    toolwright_core::ConfigError,
    toolwright_core::InvokerError,
    toolwright_core::RegistryError,
    toolwright_mcp::AttachError,
    toolwright_server::ListenError,
    toolwright_server::ServerBuildError,
);

/// Returns the messages of an error and its sources, joined by colons; a source that its parent's message already ends with
/// is left out.
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
