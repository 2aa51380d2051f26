//! The usage of a conversation.

use serde::Serialize;
use toolwright_chat::{Entry, EntryBody, Usage};

/// The tokens of a conversation, and its cost where every price is known.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct ConversationUsage {
    /// The number of turns.
    pub turns: u64,
    /// The tokens of all turns.
    pub usage: Usage,
    /// The cost of all turns; `None` if a price is not known.
    pub cost: Option<f64>,
}

impl Default for ConversationUsage {
    fn default() -> Self {
        Self { turns: 0, usage: Usage::default(), cost: Some(0.0) }
    }
}

impl ConversationUsage {
    /// Sums up a journal.
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

    /// Adds the usage of a step or a turn.
    pub(crate) fn add(&mut self, usage: Usage, cost: Option<f64>) {
        self.usage += usage;
        self.cost = self.cost.zip(cost).map(|(sum, more)| sum + more);
    }
}
