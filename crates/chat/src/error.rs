//! What can go wrong with a model, in one vocabulary for all vendors.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a model did not answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModelError {
    /// What kind of trouble it is.
    pub kind: ModelErrorKind,
    /// What to tell; the vendor's own message where there is one, without secrets.
    pub message: String,
    /// How long the vendor asks to wait.
    pub retry_after: Option<Duration>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong, or not allowed to.
    Auth,
    /// Too many requests, or too many tokens.
    RateLimit,
    /// The vendor cannot keep up, or is broken.
    Overloaded,
    /// The vendor refuses the request.
    BadRequest,
    /// The conversation is longer than the model can read.
    ContextTooLong,
    /// A filter stepped in.
    ContentFilter,
    /// Nobody answers at that address, or the line is cut.
    Network,
    /// Nothing came for too long.
    Timeout,
    /// The answer is not in the protocol.
    Protocol,
    /// The request was not made, because live requests are forbidden here.
    Forbidden,
}

impl ModelError {
    /// Makes an error.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            source: None,
        }
    }

    /// Adds what it comes from.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds how long the vendor asks to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Whether the same request may well succeed a little later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.kind,
            ModelErrorKind::RateLimit
                | ModelErrorKind::Overloaded
                | ModelErrorKind::Network
                | ModelErrorKind::Timeout
        )
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
