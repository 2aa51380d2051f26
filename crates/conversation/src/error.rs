//! Why a conversation does not do what it is asked to do, in no protocol's terms.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolwright_chat::{ChatError, ModelErrorKind, StoreError};
use toolwright_core::SharedStateError;
use toolwright_schema::redact;

/// An error of a conversation: what was asked of it did not happen.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// There is no such conversation, or none that the principal may see.
    #[error("there is no such conversation")]
    NotFound,
    /// No endpoint has conversations at the path.
    #[error("no endpoint has conversations at `{path}`")]
    NoEndpoint {
        /// The path.
        path: String,
    },
    /// The message was withdrawn before, or its turn has begun.
    #[error("no message waits at this position any more")]
    NotQueued,
    /// The request makes no sense.
    #[error("{message}")]
    Invalid {
        /// What is wrong.
        message: String,
    },
    /// The principal may see the conversation, and not do this.
    #[error("{message}")]
    Forbidden {
        /// Who may.
        message: &'static str,
    },
    /// The credential of a message expired while the message waited.
    #[error(
        "the credential expired before the message could be answered: sign in and send it again"
    )]
    CredentialExpired,
    /// Not possible in the current state of the conversation.
    #[error("{message}")]
    Conflict {
        /// What is in the way.
        message: &'static str,
    },
    /// There is no room for more messages, conversations or links.
    #[error("{message}")]
    Full {
        /// Of what there are too many.
        message: &'static str,
    },
    /// A quota of the person is used up.
    #[error("{message}")]
    Quota {
        /// The name of its setting.
        limit: &'static str,
        /// The quota, and when it resets.
        message: String,
        /// When a retry may succeed.
        retry_after: Duration,
    },
    /// The cost is limited, and cannot be computed.
    #[error(
        "`cost_per_day` is limited, and the price of `{model}` is not known: the operator sets it in [prices]"
    )]
    UnknownPrice {
        /// The model.
        model: String,
    },
    /// The server cannot take on more work now.
    #[error("{message}")]
    Overloaded {
        /// What is overloaded.
        message: String,
        /// When a retry may succeed.
        retry_after: Duration,
    },
    /// The server shuts down.
    #[error("the server is about to end")]
    Ending,
    /// It cannot be decided now whether this is allowed.
    #[error("{message}")]
    Undecided {
        /// What cannot be decided.
        message: &'static str,
    },
    /// A value could not be encoded.
    #[error("the answer cannot be written: {message}")]
    Unencodable {
        /// The error of the encoder.
        message: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state that all nodes share could not be read or written.
    #[error(transparent)]
    SharedState(Arc<SharedStateError>),
    /// The turn could not begin.
    #[error(transparent)]
    Chat(Arc<ChatError>),
    /// The node that runs the turns of the conversation reported an error.
    #[error("{message}")]
    OtherNode {
        /// The kind of the error.
        kind: ConversationErrorKind,
        /// The message, with secrets redacted.
        message: String,
    },
}

impl From<SharedStateError> for ConversationError {
    fn from(error: SharedStateError) -> Self {
        Self::SharedState(Arc::new(error))
    }
}

impl From<ChatError> for ConversationError {
    fn from(error: ChatError) -> Self {
        Self::Chat(Arc::new(error))
    }
}

impl ConversationError {
    /// The turn of the conversation does not wait for what was sent, or another request has sent it.
    #[doc(hidden)]
    pub fn not_taken() -> Self {
        let message = "the conversation went on without it, or another request has sent it, too: read the conversation, and send it again if it is not there";
        Self::Conflict { message }
    }

    #[doc(hidden)]
    pub fn unencodable(error: impl std::fmt::Display) -> Self {
        Self::Unencodable { message: error.to_string() }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ConversationErrorKind {
        use ConversationErrorKind as Kind;
        match self {
            Self::NotFound | Self::NoEndpoint { .. } | Self::NotQueued => Kind::NotFound,
            Self::Invalid { .. } => Kind::Invalid,
            Self::Forbidden { .. } => Kind::Forbidden,
            Self::CredentialExpired => Kind::Unauthorized,
            Self::Conflict { .. } => Kind::Conflict,
            Self::Full { .. } => Kind::Busy,
            Self::Quota { limit, .. } if limit.ends_with("_per_day") => Kind::Quota,
            Self::Quota { .. } => Kind::RateLimit,
            Self::UnknownPrice { .. } => Kind::UnknownPrice,
            Self::Overloaded { .. } | Self::Ending | Self::Store(StoreError::Overloaded { .. }) => {
                Kind::Overloaded
            }
            Self::Undecided { .. } => Kind::Unavailable,
            Self::Unencodable { .. } => Kind::Internal,
            Self::Store(_) | Self::SharedState(_) => Kind::Store,
            Self::Chat(error) => Kind::of_chat_error(error),
            Self::OtherNode { kind, .. } => *kind,
        }
    }

    /// The message for clients: secrets are redacted where it may have text of a store or a model.
    pub fn message(&self) -> String {
        let message = self.to_string();
        match self {
            Self::Store(_) | Self::SharedState(_) | Self::Chat(_) => redact(&message).into_owned(),
            _ => message,
        }
    }

    /// Returns how long to wait before a retry, if that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Quota { retry_after, .. }
            | Self::Overloaded { retry_after, .. }
            | Self::Store(StoreError::Overloaded { retry_after, .. }) => Some(*retry_after),
            _ => None,
        }
    }

    /// Returns true if the same request may succeed a little later, without a change of anything that people decide.
    pub fn is_transient(&self) -> bool {
        use ConversationErrorKind as Kind;
        matches!(
            self.kind(),
            Kind::Overloaded
                | Kind::Unavailable
                | Kind::Store
                | Kind::Withdrawn
                | Kind::UnknownPrice
        )
    }
}

/// The kinds of [`ConversationError`] and of the errors of turns, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationErrorKind {
    /// The request makes no sense.
    Invalid,
    /// There is no such thing, or none that the principal may see.
    NotFound,
    /// The principal may not do this.
    Forbidden,
    /// The credential is not valid any more.
    Unauthorized,
    /// Not possible in the current state of the conversation.
    Conflict,
    /// There is no room for more, or another process has the conversation.
    Busy,
    /// A quota per minute, or of turns at once, is used up.
    RateLimit,
    /// A quota per day is used up.
    Quota,
    /// The cost is limited, and the price of the model is not known.
    UnknownPrice,
    /// The server or its store cannot take on more work now.
    Overloaded,
    /// It cannot be decided now whether this is allowed.
    Unavailable,
    /// The store failed.
    Store,
    /// The message was withdrawn.
    Withdrawn,
    /// The server or a handler has a bug.
    Internal,
    /// There is nothing to answer or to resume.
    NoInput,
    /// The request names tools that do not exist.
    UnknownTool,
    /// A prompt cannot be rendered.
    Prompt,
    /// The tools cannot be listed.
    Tools,
    /// The turn ended without an answer.
    Ended,
    /// Another error of a turn.
    Chat,
    /// The request to the model failed.
    Model(ModelErrorKind),
}

impl ConversationErrorKind {
    #[doc(hidden)]
    pub fn of_chat_error(error: &ChatError) -> Self {
        match error {
            ChatError::Model(error) => Self::Model(error.kind),
            ChatError::Store(StoreError::Withdrawn { .. }) => Self::Withdrawn,
            ChatError::Store(_) => Self::Store,
            ChatError::Tools(_) => Self::Tools,
            ChatError::UnknownTool { .. } => Self::UnknownTool,
            ChatError::Prompt { .. } => Self::Prompt,
            ChatError::Rejected { .. } => Self::Conflict,
            ChatError::NotAllowed { .. } => Self::Forbidden,
            ChatError::Busy { .. } => Self::Busy,
            ChatError::NoTurnEnd { .. } => Self::Invalid,
            ChatError::NoInput => Self::NoInput,
            ChatError::Ended { .. } => Self::Ended,
            _ => Self::Chat,
        }
    }

    /// The name that clients read, in responses and in events. Several kinds may have the same name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "unknown",
            Self::Forbidden => "forbidden",
            Self::Unauthorized => "unauthorized",
            Self::Conflict => "refused",
            Self::Busy => "busy",
            Self::RateLimit => "rate_limit",
            Self::Quota | Self::UnknownPrice => "quota",
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
            Self::Store => "store",
            Self::Withdrawn => "withdrawn",
            Self::Internal => "internal",
            Self::NoInput => "silent",
            Self::UnknownTool | Self::Tools => "tools",
            Self::Prompt => "prompt",
            Self::Ended => "ended",
            Self::Chat => "chat",
            Self::Model(kind) => match kind {
                ModelErrorKind::Auth => "auth",
                ModelErrorKind::RateLimit => "rate_limit",
                ModelErrorKind::Quota => "quota",
                ModelErrorKind::Overloaded => "overloaded",
                ModelErrorKind::BadRequest => "bad_request",
                ModelErrorKind::ContextTooLong => "context_too_long",
                ModelErrorKind::ContentFilter => "content_filter",
                ModelErrorKind::Network => "network",
                ModelErrorKind::Timeout => "timeout",
                ModelErrorKind::Protocol => "protocol",
                ModelErrorKind::Forbidden => "forbidden",
                _ => "model",
            },
        }
    }
}

/// The name of the kind of an error, for programs.
pub fn error_kind(error: &ChatError) -> &'static str {
    ConversationErrorKind::of_chat_error(error).name()
}
