//! Publishes the usage and cost of turns as metadata, and enforces a budget per conversation.

use serde_json::json;
use toolwright_core::BoxFuture;

use crate::endpoint::interceptor::{Interceptor, TurnContext, TurnRejection};

/// An interceptor that publishes the usage of each turn and its conversation, and enforces a budget.
///
/// Adds `model`, `latency` in milliseconds, `usage`, `cost` and the usage of the `conversation` to the turn's metadata. A
/// cost is `null` if a price is not known; prices are set with
/// [`ChatBuilder::prices`](toolwright_chat::ChatBuilder::prices).
///
/// # Examples
///
/// ```
/// use toolwright::server::{Endpoint, Metering};
///
/// let endpoint = Endpoint::new("/chat/{room}").open_to_all().interceptor(Metering::new().budget(0.50));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metering {
    budget: Option<f64>,
}

impl Metering {
    /// Publishes usage, without a budget.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rejects messages in a conversation that has cost this much, in the currency of the prices.
    ///
    /// Messages in a conversation whose cost is not known are rejected, too, and a model whose price is not known is not called.
    #[must_use]
    pub fn budget(mut self, max: f64) -> Self {
        self.budget = Some(max);
        self
    }
}

impl Interceptor for Metering {
    fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async move {
            let Some(max) = self.budget else { return Ok(()) };
            let reason = match turn.conversation_usage.cost {
                Some(cost) if cost < max => {
                    turn.session.turn_state().has_budget = true;
                    return Ok(());
                }
                Some(_) => format!(
                    "This conversation has used up its budget of {max:.2}. Please begin a new one."
                ),
                None => format!(
                    "This conversation has a budget of {max:.2}, and what it has cost is not known. Please begin a new one."
                ),
            };
            Err(TurnRejection::new(reason).keep_message())
        })
    }

    fn before_completion<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(outcome) = &turn.outcome else { return };
            let metadata = json!({
                "model": outcome.model.as_ref().map(ToString::to_string),
                "latency": outcome.latency.as_millis(),
                "usage": outcome.usage,
                "cost": outcome.cost,
                "conversation": turn.conversation_usage,
            });
            if let serde_json::Value::Object(metadata) = metadata {
                turn.metadata.extend(metadata);
            }
        })
    }
}
