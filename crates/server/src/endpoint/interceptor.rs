//! Interceptors: hooks before a turn, before its end is published, and after it.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use toolwright_chat::{ModelId, TurnEnd, Usage};
use toolwright_conversation::ConversationUsage;
use toolwright_core::BoxFuture;

use crate::conversation::room_command::IncomingMessage;
use crate::conversation::session::Session;

/// Hooks around every turn of an endpoint.
///
/// `before` runs in the order in which interceptors were added, `before_completion` and `after` in reverse: the first
/// interceptor sees the message first and the answer last.
///
/// # Examples
///
/// ```
/// use toolwright::BoxFuture;
/// use toolwright::server::{Interceptor, TurnContext, TurnRejection};
///
/// /// Answers in office hours only.
/// struct OfficeHours;
///
/// impl Interceptor for OfficeHours {
///     fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
///         Box::pin(async move {
///             match turn.message.text().contains("urgent") {
///                 true => Ok(()),
///                 false => Err(TurnRejection::new("We are closed. Write `urgent` if it is.")),
///             }
///         })
///     }
/// }
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// Runs before the message is answered; may change the message, choose its model, or reject it.
    ///
    /// # Errors
    ///
    /// The reason of the rejection, which the user reads as the answer.
    fn before<'a>(&'a self, _: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async { Ok(()) })
    }

    /// Runs after the answer, before the end of the turn is published; may add [`TurnContext::metadata`] or send events.
    fn before_completion<'a>(&'a self, _: &'a mut TurnContext) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Runs after the end of the turn was published; events sent now belong to no turn.
    fn after<'a>(&'a self, _: &'a TurnContext) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}

/// Why a message is not answered, as a sentence for the user.
///
/// The journal has the reason as the answer. In place of the message it has a note, unless the rejection
/// [keeps](Self::keep_message) it: what was rejected for its content must not be stored, nor read by the model in a later turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRejection {
    reason: String,
    keeps_message: bool,
}

impl TurnRejection {
    /// Rejects with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), keeps_message: false }
    }

    /// Keeps the message in the journal, because it was not rejected for its content.
    ///
    /// Only the last interceptor of an endpoint can: those that follow have not seen the message.
    #[must_use]
    pub fn keep_message(mut self) -> Self {
        self.keeps_message = true;
        self
    }

    /// The reason, which the user reads as the answer.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub(crate) fn keeps_message(&self) -> bool {
        self.keeps_message
    }
}

/// A turn, as interceptors see it.
#[non_exhaustive]
pub struct TurnContext {
    /// The message and the model that it chooses; empty where a turn is resumed.
    pub message: IncomingMessage,
    /// The session of the turn.
    pub session: Session,
    /// Published as a `metadata` event before the turn ends.
    pub metadata: Map<String, Value>,
    /// Usage of the conversation: before this turn, and including it once it has ended.
    pub conversation_usage: ConversationUsage,
    /// The outcome; `None` until the turn has ended.
    pub outcome: Option<TurnOutcome>,
    pub(crate) started_at: Instant,
}

/// The outcome of a turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnOutcome {
    /// Why the turn ended; `None` if it failed.
    pub end: Option<TurnEnd>,
    /// The model that answered; `None` if a handler did.
    pub model: Option<ModelId>,
    /// The text of the answer.
    pub text: String,
    /// The tokens of the turn.
    pub usage: Usage,
    /// The cost, if every price is known.
    pub cost: Option<f64>,
    /// From the start of the turn until its answer was complete.
    pub latency: Duration,
}
