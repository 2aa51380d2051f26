//! A store in memory, for tests and for conversations that need not survive the process.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{FutureExt as _, ready};
use tokio::time::Instant;
use toolwright_core::{MemorySharedState, Secret, SharedState};

use super::{
    Append, ConversationSummary, InboxItem, Lease, LeaseStatus, Store, StoreError, StoreFuture,
    StoreScope, TailEnd, TurnStatus, random_hex,
};
use crate::journal::entry::Entry;
use crate::journal::store::owner::Owner;

/// Stores journals in memory, until the process ends.
pub struct MemoryStore {
    state: Mutex<MemoryState>,
    shared_state: Arc<MemorySharedState>,
}

#[derive(Default)]
struct MemoryState {
    conversations: HashMap<String, StoredConversation>,
    /// The highest term of a conversation that was removed: a new one of the same name continues from it.
    removed_term: u64,
    /// The newest is the last.
    keys: Vec<Secret>,
}

#[derive(Default)]
struct StoredConversation {
    entries: Vec<Entry>,
    ids: HashSet<String>,
    inbox: Vec<InboxItem>,
    last_position: u64,
    turn: TurnStatus,
    /// The number of the last acquisition.
    term: u64,
    /// The holder and the expiry of the lease.
    lease: Option<(String, Instant)>,
}

impl StoredConversation {
    /// Returns true if the lease is valid: even when it has expired, as long as it was not acquired again.
    fn is_held(&self, lease: &Lease) -> bool {
        let held = self.lease.as_ref();
        held.is_some_and(|(holder, _)| *holder == lease.holder) && self.term == lease.term
    }

    /// Removes the entries and the inbox; returns false if there were no entries.
    fn clear(&mut self) -> bool {
        let empty = Self {
            term: self.term,
            lease: self.lease.take(),
            last_position: self.last_position,
            ..Self::default()
        };
        !std::mem::replace(self, empty).entries.is_empty()
    }

    fn is_unattended(&self, now: Instant) -> bool {
        self.lease.as_ref().is_none_or(|(_, until)| *until <= now) && self.has_work()
    }

    /// Returns true if its turn has to go on, or an item of its inbox can be taken.
    fn has_work(&self) -> bool {
        match self.turn {
            TurnStatus::Running => true,
            TurnStatus::Over => !self.inbox.is_empty(),
            TurnStatus::Paused => self.inbox.iter().any(|item| item.resumes),
        }
    }
}

impl MemoryState {
    fn summaries(&self, listed: impl Fn(&str) -> bool) -> Vec<ConversationSummary> {
        let stored = self.conversations.iter().filter(|(name, _)| listed(name));
        let summaries = stored.filter_map(|(name, stored)| {
            let (first, last) = (stored.entries.first()?, stored.entries.last()?);
            let count = u64::try_from(stored.entries.len()).unwrap_or(u64::MAX);
            Some(ConversationSummary::new(name, first, last.at, count))
        });
        let mut summaries: Vec<ConversationSummary> = summaries.collect();
        summaries.sort_by(|a, b| (b.last, &a.conversation).cmp(&(a.last, &b.conversation)));
        summaries
    }

    /// Returns the conversation if the lease is valid.
    fn leased(&mut self, lease: &Lease) -> Result<&mut StoredConversation, StoreError> {
        let stored = self.conversations.get_mut(&lease.conversation);
        let stored = stored.filter(|stored| stored.is_held(lease));
        stored.ok_or_else(|| StoreError::leased_elsewhere(&lease.conversation))
    }

    /// Returns the conversation, which is created if it does not exist.
    fn conversation(&mut self, name: &str) -> &mut StoredConversation {
        let term = self.removed_term;
        let stored = self.conversations.entry(name.to_owned());
        stored.or_insert_with(|| StoredConversation { term, ..StoredConversation::default() })
    }

    /// Removes a conversation that has nothing but a term.
    fn remove_if_empty(&mut self, name: &str) {
        let is_empty = |stored: &StoredConversation| {
            stored.entries.is_empty() && stored.inbox.is_empty() && stored.lease.is_none()
        };
        if let Some(stored) = self.conversations.get(name).filter(|stored| is_empty(stored)) {
            self.removed_term = self.removed_term.max(stored.term);
            self.conversations.remove(name);
        }
    }
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        // A random first term: event numbers of an earlier process, which clients may still have, are not used again.
        let random = random_hex(4).ok().and_then(|hex| u64::from_str_radix(&hex, 16).ok());
        let state = MemoryState { removed_term: random.unwrap_or_default(), ..Default::default() };
        Self { state: Mutex::new(state), shared_state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

fn done<'a, T: Send + 'a>(result: Result<T, StoreError>) -> StoreFuture<'a, T> {
    ready(result).boxed()
}

impl Store for MemoryStore {
    fn scope(&self) -> StoreScope {
        StoreScope::Process
    }

    fn acquire<'a>(
        &'a self,
        conversation: &'a str,
        holder: &'a str,
        duration: Duration,
    ) -> StoreFuture<'a, Option<Lease>> {
        let mut state = self.state();
        let now = Instant::now();
        let stored = state.conversation(conversation);
        let held = stored.lease.as_ref();
        if held.is_some_and(|(other, until)| other != holder && *until > now) {
            return done(Ok(None));
        }
        stored.lease = Some((holder.to_owned(), expiry(now, duration)));
        stored.term += 1;
        done(Ok(Some(Lease::new(conversation, holder, stored.term))))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool> {
        let mut state = self.state();
        let Ok(stored) = state.leased(lease) else {
            return done(Ok(false));
        };
        stored.lease = Some((lease.holder.clone(), expiry(Instant::now(), duration)));
        done(Ok(true))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let mut state = self.state();
        if let Ok(stored) = state.leased(lease) {
            stored.lease = None;
            state.remove_if_empty(&lease.conversation);
        }
        done(Ok(()))
    }

    fn lease_status<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, LeaseStatus> {
        let (state, now) = (self.state(), Instant::now());
        let Some(stored) = state.conversations.get(conversation) else {
            return done(Ok(LeaseStatus::new(state.removed_term, None)));
        };
        done(Ok(match &stored.lease {
            Some((_, until)) if *until <= now => LeaseStatus::expired(stored.term),
            held => LeaseStatus::new(stored.term, held.as_ref().map(|(holder, _)| holder.clone())),
        }))
    }

    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        let mut state = self.state();
        let stored = match state.leased(lease) {
            Ok(stored) => stored,
            Err(error) => return done(Err(error)),
        };
        let is_there = |position| stored.inbox.iter().any(|item| item.position == position);
        // What was appended before has taken its items then.
        let has_new = append.entries.iter().any(|entry| !stored.ids.contains(&entry.id));
        if has_new && !append.taken.iter().copied().all(is_there) {
            let conversation = lease.conversation.clone();
            return done(Err(StoreError::Withdrawn { conversation }));
        }
        for entry in append.entries {
            if stored.ids.insert(entry.id.clone()) {
                stored.entries.push(entry.clone());
            }
        }
        stored.inbox.retain(|item| !append.taken.contains(&item.position));
        // Mostly empty: a conversation does not keep the room for it.
        stored.inbox.shrink_to_fit();
        if !append.entries.is_empty() {
            stored.turn = append.turn;
        }
        done(Ok(()))
    }

    fn push_inbox<'a>(
        &'a self,
        conversation: &'a str,
        item: &'a InboxItem,
        limit: usize,
    ) -> StoreFuture<'a, Option<u64>> {
        let mut state = self.state();
        let stored = state.conversation(conversation);
        if stored.ids.contains(&item.id) {
            return done(Ok(Some(0)));
        }
        if let Some(known) = stored.inbox.iter().find(|known| known.id == item.id) {
            return done(Ok(Some(known.position)));
        }
        if stored.inbox.len() >= limit {
            return done(Ok(None));
        }
        stored.last_position += 1;
        let item = item.clone().stored_at(stored.last_position, stored.turn);
        stored.inbox.push(item);
        done(Ok(Some(stored.last_position)))
    }

    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>> {
        let state = self.state();
        let stored = state.conversations.get(conversation);
        done(Ok(stored.map(|stored| stored.inbox.clone()).unwrap_or_default()))
    }

    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool> {
        let mut state = self.state();
        let Some(stored) = state.conversations.get_mut(conversation) else {
            return done(Ok(false));
        };
        let before = stored.inbox.len();
        stored.inbox.retain(|item| item.position != position);
        let is_removed = stored.inbox.len() < before;
        state.remove_if_empty(conversation);
        done(Ok(is_removed))
    }

    fn list_unattended(&self, limit: usize) -> StoreFuture<'_, Vec<String>> {
        let (state, now) = (self.state(), Instant::now());
        let stored = state.conversations.iter();
        let names = stored.filter(|(_, stored)| stored.is_unattended(now)).map(|(name, _)| name);
        done(Ok(names.take(limit).cloned().collect()))
    }

    fn list_held_by<'a>(&'a self, holder: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        let state = self.state();
        let held = state.conversations.iter().filter(|(_, stored)| {
            let is_holder = stored.lease.as_ref().is_some_and(|(known, _)| known == holder);
            is_holder && stored.has_work()
        });
        done(Ok(held.map(|(name, _)| name.clone()).take(limit).collect()))
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        end: TailEnd<'a>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Entry>> {
        let state = self.state();
        let stored = state.conversations.get(conversation);
        let entries = stored.map_or(&[][..], |stored| &stored.entries);
        let position = |id: &str| entries.iter().rposition(|entry| entry.id == id);
        let end = match end {
            TailEnd::Newest => entries.len(),
            TailEnd::Before(id) => position(id).unwrap_or_default(),
            TailEnd::At(id) => position(id).map_or(0, |at| at + 1),
        };
        let from = end.saturating_sub(limit);
        done(Ok(entries.get(from..end).unwrap_or_default().to_vec()))
    }

    fn list(&self, limit: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        let mut summaries = self.state().summaries(|_| true);
        summaries.truncate(limit);
        done(Ok(summaries))
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>> {
        let names = owner.stored_name_range();
        let operator = *owner == Owner::Operator;
        let owned = |name: &str| (*names.start <= *name && *name < *names.end) != operator;
        let mut summaries = self.state().summaries(owned);
        summaries.truncate(limit);
        done(Ok(summaries))
    }

    fn list_older_than(
        &self,
        time: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        let summaries = self.state().summaries(|_| true);
        let older = summaries.into_iter().rev().filter(|summary| summary.last < time);
        done(Ok(older.take(limit).collect()))
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, bool> {
        done(self.state().leased(lease).map(StoredConversation::clear))
    }

    fn delete_expired<'a>(&'a self, lease: &'a Lease, time: u64) -> StoreFuture<'a, bool> {
        let mut state = self.state();
        let deleted = state.leased(lease).map(|stored| {
            let is_old = stored.entries.last().is_some_and(|last| last.at < time);
            is_old && stored.turn == TurnStatus::Over && stored.inbox.is_empty() && stored.clear()
        });
        done(deleted)
    }

    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>> {
        let mut state = self.state();
        if state.keys.is_empty() {
            match random_hex(32) {
                Ok(key) => state.keys.push(Secret::new(key)),
                Err(error) => return done(Err(error)),
            }
        }
        done(Ok(state.keys.iter().rev().cloned().collect()))
    }

    fn rotate_signing_key(&self, keep: usize) -> StoreFuture<'_, ()> {
        let mut state = self.state();
        let added = random_hex(32).map(|key| {
            state.keys.push(Secret::new(key));
            let excess = state.keys.len().saturating_sub(keep.max(1));
            state.keys.drain(..excess);
        });
        done(added)
    }

    fn shared_state(&self) -> Arc<dyn SharedState> {
        Arc::clone(&self.shared_state) as Arc<dyn SharedState>
    }
}

/// The end of a lease; a duration that overflows becomes 34 years.
fn expiry(now: Instant, duration: Duration) -> Instant {
    now.checked_add(duration).unwrap_or(now + Duration::from_secs(1 << 30))
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.state().conversations.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::entry::EntryBody;
    use crate::journal::store::inbox::InboxBody;

    #[tokio::test]
    async fn an_item_that_was_withdrawn_is_not_appended() {
        let store = MemoryStore::new();
        let item = InboxItem::new("a", 0, InboxBody::Stop);
        let position = store.push_inbox("c", &item, 9).await.unwrap().unwrap();
        let lease = store.acquire("c", "me", Duration::MAX).await.unwrap().unwrap();
        let entries = [Entry::new("a", 0, EntryBody::User { content: Vec::new() })];
        assert!(store.remove_inbox_item("c", position).await.unwrap());
        store.append(&lease, Append::new(&entries).taking(&[position])).await.unwrap_err();
        assert!(store.load("c").await.unwrap().is_empty());
    }
}
