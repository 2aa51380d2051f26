//! Who looks at a turn before it begins, before it is over, and after.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use toolwright_chat::{ModelId, TurnEnd, Usage};
use toolwright_core::BoxFuture;

use crate::conversation::room_command::IncomingMessage;
use crate::conversation::session::Session;
use crate::conversation::usage::ConversationUsage;

/// Somebody who looks at every turn of an endpoint.
///
/// Interceptors are asked `before` in the order they were added, and `before_completion` and `after` in the opposite order:
/// the first one sees the prompt first and the answer last.
///
/// # Examples
///
/// ```
/// use toolwright_core::BoxFuture;
/// use toolwright_server::{TurnContext, Interceptor, Refusal};
///
/// /// Answers in office hours only.
/// struct OfficeHours;
///
/// impl Interceptor for OfficeHours {
///     fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), Refusal>> {
///         Box::pin(async move {
///             match turn.message.text().contains("urgent") {
///                 true => Ok(()),
///                 false => Err(Refusal::new("We are closed. Write `urgent` if it is.")),
///             }
///         })
///     }
/// }
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// Sees what was said before anybody answers; may change it, choose who answers, or refuse.
    ///
    /// # Errors
    ///
    /// Why nobody answers: the person reads it in place of an answer.
    fn before<'a>(&'a self, _: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async { Ok(()) })
    }

    /// Sees what was answered while there is still time to tell something: [`TurnContext::metadata`], or the session.
    fn before_completion<'a>(&'a self, _: &'a mut TurnContext) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Sees a turn that is over; what is told now belongs to none.
    fn after<'a>(&'a self, _: &'a TurnContext) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}

/// Why nobody answers, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRejection(String);

impl TurnRejection {
    /// Says why.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

/// A turn, as interceptors see it.
#[non_exhaustive]
pub struct TurnContext {
    /// What was said; who answers can be chosen in it. Empty where a turn goes on.
    pub message: IncomingMessage,
    /// The conversation.
    pub session: Session,
    /// What is told of the turn before it is over.
    pub metadata: Map<String, Value>,
    /// What the conversation took before this turn, and after it once it is over.
    pub conversation_usage: ConversationUsage,
    /// How it came out, once it is over.
    pub outcome: Option<TurnOutcome>,
    pub(crate) started_at: Instant,
}

/// How a turn came out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnOutcome {
    /// Why it ended; nothing where it failed.
    pub end: Option<TurnEnd>,
    /// Who answered.
    pub model: Option<ModelId>,
    /// The answer.
    pub text: String,
    /// What it took.
    pub usage: Usage,
    /// What it cost, where every price is known.
    pub cost: Option<f64>,
    /// How long it took.
    pub latency: Duration,
}
