//! A store in memory, for tests and for conversations that need not survive the process.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, FutureExt as _, ready};
use toolwright_core::Secret;

use super::{ConversationSummary, Lease, Store, StoreError, random_hex};
use crate::journal::entry::Entry;
use crate::journal::store::owner::Owner;

/// Stores journals in memory, until the process ends.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<MemoryState>,
}

#[derive(Default)]
struct MemoryState {
    journals: HashMap<String, StoredJournal>,
    /// The holder and the expiry of each conversation's lease.
    leases: HashMap<String, (String, Instant)>,
    key: Option<Secret>,
}

impl MemoryState {
    fn summaries(&self, limit: usize, listed: impl Fn(&str) -> bool) -> Vec<ConversationSummary> {
        let journals = self.journals.iter().filter(|(name, _)| listed(name));
        let summaries = journals.filter_map(|(conversation, journal)| {
            let (first, last) = (journal.entries.first()?, journal.entries.last()?);
            let count = u64::try_from(journal.entries.len()).unwrap_or(u64::MAX);
            Some(ConversationSummary::new(conversation, first, last.at, count))
        });
        let mut summaries: Vec<ConversationSummary> = summaries.collect();
        summaries.sort_by(|a, b| (b.last, &a.conversation).cmp(&(a.last, &b.conversation)));
        summaries.truncate(limit);
        summaries
    }

    /// Returns true if the lease is held: even when it has expired, as long as no other holder has acquired it.
    fn is_held(&self, lease: &Lease) -> bool {
        let held = self.leases.get(&lease.conversation);
        held.is_some_and(|(holder, _)| *holder == lease.holder)
    }
}

#[derive(Default)]
struct StoredJournal {
    entries: Vec<Entry>,
    ids: HashSet<String>,
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        duration: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let mut state = self.state();
        let now = Instant::now();
        let held = state.leases.get(&lease.conversation);
        let free = held.is_none_or(|(holder, until)| *holder == lease.holder || *until <= now);
        if free {
            // A duration that overflows becomes 34 years.
            let until = now.checked_add(duration).unwrap_or(now + Duration::from_secs(1 << 30));
            let held = (lease.holder.clone(), until);
            state.leases.insert(lease.conversation.clone(), held);
        }
        ready(Ok(free)).boxed()
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut state = self.state();
        if state.is_held(lease) {
            state.leases.remove(&lease.conversation);
        }
        ready(Ok(())).boxed()
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut state = self.state();
        if !state.is_held(lease) {
            return ready(Err(StoreError::leased_elsewhere(lease))).boxed();
        }
        if entries.is_empty() {
            return ready(Ok(())).boxed();
        }
        let journal = state.journals.entry(lease.conversation.clone());
        let journal = journal.or_default();
        for entry in entries {
            if journal.ids.insert(entry.id.clone()) {
                journal.entries.push(entry.clone());
            }
        }
        ready(Ok(())).boxed()
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        let state = self.state();
        let journal = state.journals.get(conversation);
        let entries = journal.map_or(&[][..], |journal| &journal.entries);
        let end = before.map(|before| entries.iter().rposition(|entry| entry.id == before));
        // There is nothing before an entry that does not exist.
        let end = end.map_or(entries.len(), Option::unwrap_or_default);
        let from = end.saturating_sub(limit);
        let tail = entries.get(from..end).unwrap_or_default().to_vec();
        ready(Ok(tail)).boxed()
    }

    fn list(&self, limit: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>> {
        ready(Ok(self.state().summaries(limit, |_| true))).boxed()
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>> {
        let names = owner.stored_name_range();
        let operator = *owner == Owner::Operator;
        let owned = |name: &str| (*names.start <= *name && *name < *names.end) != operator;
        ready(Ok(self.state().summaries(limit, owned))).boxed()
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        let mut state = self.state();
        let existed = match state.is_held(lease) {
            true => Ok(state.journals.remove(&lease.conversation).is_some()),
            false => Err(StoreError::leased_elsewhere(lease)),
        };
        ready(existed).boxed()
    }

    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        let mut state = self.state();
        let key = match &state.key {
            Some(key) => Ok(key.clone()),
            None => random_hex(32).map(Secret::new),
        };
        if let Ok(key) = &key {
            state.key = Some(key.clone());
        }
        ready(key).boxed()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.state().journals.keys()).finish()
    }
}
