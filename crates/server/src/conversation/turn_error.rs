//! The error of a turn, as subscribers of the conversation read it.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use toolwright_chat::{ChatError, StoreError};
use toolwright_conversation::{ConversationError, ConversationErrorKind, EndpointEvent};
use toolwright_schema::redact;

/// Why a message was not answered; published to the subscribers of the conversation.
///
/// After [`Store`](Self::Store), or a [`Chat`](Self::Chat) error of the store, the message stays in the inbox and is answered later.
/// After every other error the journal has the message and its failed end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TurnError {
    /// A handler failed, or an argument of it could not be extracted.
    Handler {
        /// The kind of the error, which the author of the endpoint chooses.
        kind: String,
        /// The message, with secrets redacted.
        message: String,
    },
    /// The chat failed.
    Chat(Arc<ChatError>),
    /// The conversation could not be read or written.
    Store(StoreError),
    /// The message was rejected, or one that the handler has sent to another conversation.
    Rejected(ConversationError),
    /// A handler or an interceptor panicked.
    Panicked,
}

impl TurnError {
    /// Creates the error of a handler; secrets in the message are redacted.
    pub fn new(kind: impl Into<String>, message: impl fmt::Display) -> Self {
        Self::Handler { kind: kind.into(), message: redact(&message.to_string()).into_owned() }
    }

    /// The kind of the error as subscribers read it.
    pub fn kind(&self) -> &str {
        use ConversationErrorKind as Kind;
        let kind = match self {
            Self::Handler { kind, .. } => return kind,
            Self::Chat(error) => Kind::of_chat_error(error),
            Self::Store(StoreError::Withdrawn { .. }) => Kind::Withdrawn,
            Self::Store(_) => Kind::Store,
            Self::Rejected(error) => error.kind(),
            Self::Panicked => Kind::Internal,
        };
        kind.name()
    }

    /// The error of the conversation's own store.
    fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            Self::Chat(error) => match &**error {
                ChatError::Store(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if the store could not be read or written.
    pub(crate) fn is_store_failure(&self) -> bool {
        self.store_error().is_some() && !self.is_withdrawal()
    }

    /// Returns true if the message was withdrawn, so that there is nothing to answer.
    pub(crate) fn is_withdrawal(&self) -> bool {
        matches!(self.store_error(), Some(StoreError::Withdrawn { .. }))
    }

    /// Returns true if a decision was rejected: its call does not wait for it, or its principal may not decide.
    pub(crate) fn is_rejected_decision(&self) -> bool {
        let Self::Chat(error) = self else { return false };
        matches!(**error, ChatError::Rejected { .. } | ChatError::NotAllowed { .. })
    }

    /// The event that reports the error to subscribers.
    pub(crate) fn to_event(&self) -> EndpointEvent {
        EndpointEvent::Error { kind: self.kind().to_owned(), message: self.to_string() }
    }
}

impl fmt::Display for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Self::Handler { message, .. } => return f.write_str(message),
            Self::Panicked => return f.write_str("the endpoint failed; its log has the reason"),
            Self::Chat(error) => error.to_string(),
            Self::Store(error) => error.to_string(),
            Self::Rejected(error) => error.to_string(),
        };
        f.write_str(&redact(&message))
    }
}

impl Error for TurnError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Chat(error) => error.source(),
            Self::Store(error) => error.source(),
            Self::Rejected(error) => error.source(),
            Self::Handler { .. } | Self::Panicked => None,
        }
    }
}

impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ConversationError> for TurnError {
    fn from(error: ConversationError) -> Self {
        Self::Rejected(error)
    }
}
