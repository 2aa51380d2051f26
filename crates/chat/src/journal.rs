//! One conversation under way: what is told is kept first, and then applied to the turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::entry::{Entry, What};
use crate::store::{Store, StoreError, random};
use crate::turn::{Turn, TurnLimits};

/// The journal of one conversation.
pub(crate) struct Journal {
    pub(crate) conversation: String,
    store: Arc<dyn Store>,
    /// Held while something is appended: calls that run at the same time tell one after the other.
    order: tokio::sync::Mutex<()>,
    told: Mutex<Told>,
}

pub(crate) struct Told {
    pub(crate) entries: Vec<Entry>,
    pub(crate) turn: Turn,
}

impl Journal {
    /// Reads what a store has of a conversation.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        conversation: String,
        limits: TurnLimits,
    ) -> Result<Self, StoreError> {
        let entries = store.load(&conversation).await?;
        let mut turn = Turn::new(limits);
        entries.iter().for_each(|entry| turn.apply(entry));
        Ok(Self {
            conversation,
            store,
            order: tokio::sync::Mutex::default(),
            told: Mutex::new(Told { entries, turn }),
        })
    }

    /// Tells what happened: durable when it returns.
    pub(crate) async fn tell(
        &self,
        happened: impl IntoIterator<Item = What>,
    ) -> Result<(), StoreError> {
        let _in_order = self.order.lock().await;
        let entries: Result<Vec<Entry>, StoreError> = happened
            .into_iter()
            .map(|what| Ok(Entry::new(random(8)?, now(), what)))
            .collect();
        let entries = entries?;
        self.store.append(&self.conversation, &entries).await?;
        let mut told = self.told();
        for entry in entries {
            told.turn.apply(&entry);
            told.entries.push(entry);
        }
        Ok(())
    }

    /// What was told so far.
    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
