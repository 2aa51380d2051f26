//! The usage of a conversation.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tokio::sync::Mutex;
use toolwright_chat::{Entry, EntryBody, Store, StoreError, Usage};

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
    fn from_entries(entries: &[Entry]) -> Self {
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
    fn add(&mut self, usage: Usage, cost: Option<f64>) {
        self.usage += usage;
        self.cost = self.cost.zip(cost).map(|(sum, more)| sum + more);
    }
}

/// The usage of a conversation, which is summed up when it is asked for first, and then kept up to date.
#[doc(hidden)]
#[derive(Default)]
pub struct UsageSum {
    sum: Mutex<Option<ConversationUsage>>,
    /// True if another node has run turns since the usage was summed up.
    is_stale: AtomicBool,
}

impl UsageSum {
    /// The usage so far.
    pub async fn get(
        &self,
        store: &dyn Store,
        conversation: &str,
    ) -> Result<ConversationUsage, StoreError> {
        let mut sum = self.sum.lock().await;
        if self.is_stale.swap(false, Ordering::Relaxed) {
            *sum = None;
        }
        if let Some(sum) = *sum {
            return Ok(sum);
        }
        let total = ConversationUsage::from_entries(&store.load(conversation).await?);
        *sum = Some(total);
        Ok(total)
    }

    /// Adds the usage of a turn, if the usage was summed up before.
    pub async fn add_turn(&self, usage: Usage, cost: Option<f64>) {
        if let Some(total) = &mut *self.sum.lock().await {
            total.add(usage, cost);
            total.turns += 1;
        }
    }

    /// Sums it up again when it is asked for next.
    pub fn invalidate(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }
}
