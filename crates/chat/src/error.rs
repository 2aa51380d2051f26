//! The errors of a turn, and those of a model: the same kinds for all vendors.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolwright_core::{CallId, InvokerError};

use crate::chat::response::Response;
use crate::journal::store::StoreError;

/// An error of a request to a model.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModelError {
    /// The kind of the error, the same for all vendors.
    pub kind: ModelErrorKind,
    /// The vendor's own message where there is one, without secrets.
    pub message: String,
    /// How long to wait before a retry, if the vendor asks for a delay.
    pub retry_after: Option<Duration>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kinds of [`ModelError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong, or lacks a permission.
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
    /// A content filter of the vendor blocked the request or the answer.
    ContentFilter,
    /// No connection to the vendor, or it was lost.
    Network,
    /// The vendor sent nothing for too long.
    Timeout,
    /// The answer does not follow the protocol.
    Protocol,
    /// The request was not made: live requests are forbidden here, or the cost is limited and the price of the model not known.
    Forbidden,
}

impl ModelError {
    /// Creates an error without a source or a retry delay.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, source: None }
    }

    /// Adds the source of the error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Sets the delay before a retry.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Returns true if the same request may succeed a little later.
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
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// An error of a turn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The request to the model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The conversation cannot be written or read.
    #[error("the conversation cannot be kept: {0}")]
    Store(#[from] StoreError),
    /// The tools cannot be listed, or one of them cannot run here.
    #[error(transparent)]
    Tools(InvokerError),
    /// The request names tools or bundles that neither the registry nor a resolver has.
    #[error("nobody knows {}{}", quote_names(names), did_you_mean(nearest))]
    UnknownTool {
        /// The unknown names.
        names: Vec<String>,
        /// Known names that are similar to the first of them.
        nearest: Vec<String>,
    },
    /// A message is to continue after an entry that is not the end of a turn.
    #[error(
        "no turn of this conversation ends with the entry `{entry}`: a message can continue only there"
    )]
    NoTurnEnd {
        /// The id of the entry.
        entry: String,
    },
    /// A prompt of the registry cannot be rendered.
    #[error("prompt `{name}`: {message}")]
    Prompt {
        /// The name of the prompt.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// An approval response or a result is rejected, and so are all others of the same request.
    #[error("call `{call}`: {reason}")]
    Rejected {
        /// The call it is for.
        call: CallId,
        /// Why it is rejected.
        reason: String,
    },
    /// Another principal may decide about the call; nothing has changed.
    #[error("call `{call}`: only the principal whose message led to it may decide")]
    NotAllowed {
        /// The call that waits for approval.
        call: CallId,
    },
    /// The conversation is in use, and its queue is full or another process holds its lease.
    #[error("the conversation is busy: {reason}")]
    Busy {
        /// What the conversation is busy with.
        reason: String,
    },
    /// The request has no message, and there is no open turn to resume.
    #[error("the request has no message: add `.user(…)`")]
    NoInput,
    /// The turn ended without an answer.
    #[error("the turn was ended: {reason}")]
    Ended {
        /// The limit or the failure that ended it.
        reason: String,
        /// The turn up to its end.
        response: Box<Response>,
    },
    /// The answer does not satisfy the schema of the requested type.
    #[error("the answer is not what was asked for: {message}")]
    InvalidStructuredOutput {
        /// The violations of the schema.
        message: String,
        /// The text of the answer.
        text: String,
    },
    /// The turn waits for an approval or a result, where its answer is required.
    #[error("the turn waits: {waiting}")]
    TurnPaused {
        /// What the turn waits for.
        waiting: String,
    },
    /// The stream had been read to its end before.
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
