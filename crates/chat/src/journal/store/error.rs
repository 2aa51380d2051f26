//! The errors of a store.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use toolwright_core::SharedStateError;

/// An error of a store.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The lease of the conversation is not held: another holder has it, or it has expired.
    #[error(
        "conversation `{conversation}` is in the hands of another process; try again when it is done"
    )]
    LeasedElsewhere {
        /// The name of the conversation.
        conversation: String,
    },
    /// An item cannot be taken, because it is not in the inbox any more.
    #[error("the message to conversation `{conversation}` was withdrawn")]
    Withdrawn {
        /// The name of the conversation.
        conversation: String,
    },
    /// Too many writes wait.
    #[error("{message}")]
    Overloaded {
        /// What waits, and for how long.
        message: String,
        /// When a retry may succeed.
        retry_after: Duration,
    },
    /// Another version wrote the store, and this one cannot read it.
    #[error("{message}")]
    Incompatible {
        /// The versions, and what to do.
        message: String,
    },
    /// Everything else: the store cannot be opened, read or written.
    #[error("{message}")]
    Failed {
        /// What failed, and what to do.
        message: String,
        /// The error of the database or the system.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
}

impl StoreError {
    /// Creates a [`Failed`](Self::Failed) error with a message that explains what to do about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// Creates the error of a conversation whose lease is not held.
    pub fn leased_elsewhere(conversation: &str) -> Self {
        Self::LeasedElsewhere { conversation: conversation.to_owned() }
    }

    /// Adds the source of a [`Failed`](Self::Failed) error; the others have none.
    #[must_use]
    pub fn with_source(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match self {
            Self::Failed { message, .. } => {
                Self::Failed { message, source: Some(Arc::from(source.into())) }
            }
            error => error,
        }
    }
}

impl From<StoreError> for SharedStateError {
    fn from(error: StoreError) -> Self {
        let new = Self::new(error.to_string());
        match error {
            StoreError::Failed { source: Some(source), .. } => new.with_source(source),
            _ => new,
        }
    }
}
