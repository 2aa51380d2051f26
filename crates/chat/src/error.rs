//! What can go wrong with a model, in one vocabulary for all vendors.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use toolwright_core::{CallId, InvokerError};

use crate::chat::response::Response;
use crate::journal::store::StoreError;

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
    /// The account has used up its credit, or a quota that waiting a little does not renew.
    Quota,
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

/// Why a prompt has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The conversation cannot be kept or read.
    #[error("the conversation cannot be kept: {0}")]
    Store(#[from] StoreError),
    /// The tools cannot be listed, or one of them cannot run here.
    #[error(transparent)]
    Tools(InvokerError),
    /// Nobody knows tools or bundles that the prompt names.
    #[error("nobody knows {}{}", quote_names(names), did_you_mean(nearest))]
    UnknownTool {
        /// Their names.
        names: Vec<String>,
        /// Names like the first of them.
        nearest: Vec<String>,
    },
    /// A prompt of the registry cannot be rendered.
    #[error("prompt `{name}`: {message}")]
    Prompt {
        /// Which.
        name: String,
        /// Why.
        message: String,
    },
    /// A decision or a result is refused; none of those brought with it counts.
    #[error("call `{call}`: {reason}")]
    Rejected {
        /// About which call.
        call: CallId,
        /// Why.
        reason: String,
    },
    /// Another principal was asked about the call; nothing has changed.
    #[error("call `{call}`: only the principal whose message led to it may decide")]
    NotAllowed {
        /// About which call.
        call: CallId,
    },
    /// The conversation is in use, and too many wait for it already.
    #[error("the conversation is busy: {reason}")]
    Busy {
        /// Who has it.
        reason: String,
    },
    /// There is nothing to ask, and no turn to go on with.
    #[error("nothing was said: add `.user(…)`")]
    NoInput,
    /// The turn was ended before there was an answer.
    #[error("the turn was ended: {reason}")]
    Ended {
        /// By which limit, or by which failure.
        reason: String,
        /// What there is of it.
        response: Box<Response>,
    },
    /// The answer does not have the form it was asked for.
    #[error("the answer is not what was asked for: {message}")]
    InvalidStructuredOutput {
        /// What is wrong with it.
        message: String,
        /// The answer.
        text: String,
    },
    /// The turn waits for a decision or a result, and the caller cannot wait with it.
    #[error("the turn waits: {waiting}")]
    TurnPaused {
        /// For what.
        waiting: String,
    },
    /// The stream was read to its end before.
    #[error("the stream is over")]
    StreamEnded,
}

impl ChatError {
    pub(crate) fn tools(error: impl Into<InvokerError>) -> Self {
        Self::Tools(error.into())
    }
}

fn quote_names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        _ => format!("; did you mean {}?", quote_names(nearest)),
    }
}
