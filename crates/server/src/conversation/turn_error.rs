//! The error of a turn, as subscribers of the conversation read it.

use std::fmt;

use toolwright_chat::{ChatError, StoreError};
use toolwright_schema::redact;

/// The kind of an error of the store.
const STORE_FAILURE: &str = "store";

/// The kind of a message that was withdrawn when its turn began.
const WITHDRAWAL: &str = "withdrawn";

/// Why a message was not answered; published to the subscribers of the conversation.
#[derive(Clone, Debug)]
pub struct TurnError {
    pub(crate) kind: String,
    pub(crate) message: String,
    /// True if the client has received the error as a response already.
    pub(crate) already_reported: bool,
}

impl TurnError {
    /// Makes an error; secrets in the message are redacted.
    pub fn new(kind: impl Into<String>, message: impl fmt::Display) -> Self {
        Self {
            kind: kind.into(),
            message: redact(&message.to_string()).into_owned(),
            already_reported: false,
        }
    }

    pub(crate) fn from_chat_error(error: &ChatError) -> Self {
        Self::new(error_kind(error), error)
    }

    /// Returns true if the store could not be read or written.
    pub(crate) fn is_store_failure(&self) -> bool {
        self.kind == STORE_FAILURE
    }

    /// Creates the error of a handler or an interceptor that panicked.
    pub(crate) fn of_panic() -> Self {
        Self::new("internal", "the endpoint failed; its log has the reason")
    }

    /// Returns true if the message was withdrawn, so that there is nothing to answer.
    pub(crate) fn is_withdrawal(&self) -> bool {
        self.kind == WITHDRAWAL
    }

    /// Returns true if a decision was rejected: its call does not wait for it, or its principal may not decide.
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(&*self.kind, "refused" | "forbidden")
    }

    pub(crate) fn already_reported(mut self) -> Self {
        self.already_reported = true;
        self
    }
}

impl fmt::Display for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TurnError {}

impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        Self::new(store_error_kind(&error), error)
    }
}

fn store_error_kind(error: &StoreError) -> &'static str {
    match error.is_withdrawn() {
        true => WITHDRAWAL,
        false => STORE_FAILURE,
    }
}

/// The kind of an error, for programs.
pub fn error_kind(error: &ChatError) -> &'static str {
    use toolwright_chat::ModelErrorKind as Kind;
    match error {
        ChatError::Model(error) => match error.kind {
            Kind::Auth => "auth",
            Kind::RateLimit => "rate_limit",
            Kind::Quota => "quota",
            Kind::Overloaded => "overloaded",
            Kind::BadRequest => "bad_request",
            Kind::ContextTooLong => "context_too_long",
            Kind::ContentFilter => "content_filter",
            Kind::Network => "network",
            Kind::Timeout => "timeout",
            Kind::Protocol => "protocol",
            Kind::Forbidden => "forbidden",
            _ => "model",
        },
        ChatError::Store(error) => store_error_kind(error),
        ChatError::Tools(_) | ChatError::UnknownTool { .. } => "tools",
        ChatError::Prompt { .. } => "prompt",
        ChatError::Rejected { .. } => "refused",
        ChatError::NotAllowed { .. } => "forbidden",
        ChatError::Busy { .. } => "busy",
        ChatError::NoTurnEnd { .. } => "invalid",
        ChatError::NoInput => "silent",
        ChatError::Ended { .. } => "ended",
        _ => "chat",
    }
}
