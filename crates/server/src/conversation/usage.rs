//! What a conversation has taken so far.

use serde::Serialize;
use toolwright_chat::{Entry, EntryBody, Usage};

/// What a conversation has taken: tokens, and money where every price is known.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct ConversationUsage {
    /// How many turns it had.
    pub turns: u64,
    /// Tokens.
    pub usage: Usage,
    /// Money; nothing where a price is not known.
    pub cost: Option<f64>,
}

impl Default for ConversationUsage {
    fn default() -> Self {
        Self {
            turns: 0,
            usage: Usage::default(),
            cost: Some(0.0),
        }
    }
}

impl ConversationUsage {
    /// Adds up a journal.
    pub(crate) fn from_entries(entries: &[Entry]) -> Self {
        let mut total = Self::default();
        for entry in entries {
            match &entry.body {
                EntryBody::Step { step, cost, .. } => total.add(step.usage, *cost),
                EntryBody::TurnEnded { .. } => total.turns += 1,
                _ => {}
            }
        }
        total
    }

    /// Adds what a step or a turn took.
    pub(crate) fn add(&mut self, usage: Usage, cost: Option<f64>) {
        self.usage += usage;
        self.cost = self.cost.zip(cost).map(|(sum, more)| sum + more);
    }
}
