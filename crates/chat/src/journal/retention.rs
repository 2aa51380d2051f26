//! Deletes conversations that are older than they are to be kept.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::journal::store::lease::HeldLease;
use crate::journal::store::{ConversationSummary, Store, StoreError};

/// How many conversations are deleted at a time.
const BATCH_SIZE: usize = 256;

/// The lease while a conversation is deleted.
const LEASE_DURATION: Duration = Duration::from_secs(60);

/// Deletes the conversations whose last entry is older than a time, the oldest first, in batches.
///
/// A conversation whose turn is running or paused stays, and so does one with items in its inbox or a lease that another holder
/// has.
pub struct ExpiredConversations {
    store: Arc<dyn Store>,
    holder: String,
    time: u64,
    /// Those that stay.
    skipped: HashSet<String>,
}

impl ExpiredConversations {
    /// Makes it for a time in milliseconds since 1970. `holder` must be no name under which turns run.
    pub fn new(store: Arc<dyn Store>, holder: impl Into<String>, time: u64) -> Self {
        Self { store, holder: holder.into(), time, skipped: HashSet::new() }
    }

    /// Deletes the next batch, and returns its conversations; empty if none is left.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn delete_batch(&mut self) -> Result<Vec<ConversationSummary>, StoreError> {
        let mut deleted = Vec::new();
        loop {
            // Those that stay are listed each time: with a fixed limit, they would hide the others.
            let limit = self.skipped.len() + BATCH_SIZE;
            let mut listed = self.store.list_older_than(self.time, limit).await?;
            listed.retain(|summary| !self.skipped.contains(&summary.conversation));
            let is_last = listed.is_empty();
            for summary in listed {
                match self.delete(&summary.conversation).await? {
                    true => deleted.push(summary),
                    false => drop(self.skipped.insert(summary.conversation)),
                }
            }
            if is_last || !deleted.is_empty() {
                return Ok(deleted);
            }
        }
    }

    async fn delete(&self, conversation: &str) -> Result<bool, StoreError> {
        let store = Arc::clone(&self.store);
        let held = HeldLease::try_acquire(store, conversation, &self.holder, LEASE_DURATION);
        let Some(held) = held.await? else {
            return Ok(false);
        };
        let deleted = self.store.delete_expired(held.lease(), self.time).await;
        held.release().await;
        deleted
    }
}
