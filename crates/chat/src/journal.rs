//! One conversation under way: what is told is kept first, and then applied to the turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tokio::time::Instant;
use toolwright_core::{ApprovalToken, CallId};

use crate::chat::TurnOptions;
use crate::journal::entry::{Entry, EntryBody};
use crate::journal::store::owner::PrincipalRecord;
use crate::journal::store::{Lease, Store, StoreError, random_hex};
use crate::turn::{Turn, TurnLimits};

pub(crate) mod entry;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod repair;
pub(crate) mod store;
pub(crate) mod window;

/// How many entries are read at first: more than the usual window has.
const PAGE_SIZE: usize = 128;

/// The journal of one conversation.
pub(crate) struct Journal {
    pub(crate) conversation: String,
    store: Arc<dyn Store>,
    lease: Lease,
    /// Held while something is appended: calls that run at the same time tell one after the other.
    /// Once something was perhaps not kept, nothing may follow it; why.
    append_lock: tokio::sync::Mutex<Option<String>>,
    state: Mutex<JournalState>,
}

pub(crate) struct JournalState {
    pub(crate) entries: Vec<Entry>,
    pub(crate) turn: Turn,
    clock: Clock,
}

/// The time of a turn: the machine's when the turn begins or goes on, and from then on by a clock that does not jump.
struct Clock {
    /// Since 1970, to the nanosecond: rounded, the clock would be behind that of an approval that was made just now.
    start_time: Duration,
    start_instant: Instant,
}

impl Clock {
    fn start() -> Self {
        // In this order: interrupted in between, the clock is ahead and not behind.
        let since = Instant::now();
        let began = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            start_time: began.unwrap_or_default(),
            start_instant: since,
        }
    }

    /// Milliseconds since 1970.
    fn now(&self) -> u64 {
        let now = self.start_time.saturating_add(self.start_instant.elapsed());
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Journal {
    /// Reads as much of a conversation as a model may be told, which is what it costs: not how long it is.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        lease: Lease,
        terms: &TurnOptions,
    ) -> Result<Self, StoreError> {
        let conversation = lease.conversation.clone();
        let mut entries = store.tail(&conversation, None, PAGE_SIZE).await?;
        let mut more = entries.len() == PAGE_SIZE;
        while more && !terms.window.is_full(&entries) {
            let first = entries.first().map(|entry| entry.id.clone());
            let mut before = store
                .tail(&conversation, first.as_deref(), entries.len())
                .await?;
            more = before.len() == entries.len();
            before.append(&mut entries);
            entries = before;
        }
        let mut turn = Turn::new(terms.limits.clone());
        entries.iter().for_each(|entry| turn.apply(entry));
        Ok(Self {
            conversation,
            store,
            lease,
            append_lock: tokio::sync::Mutex::default(),
            state: Mutex::new(JournalState {
                entries,
                turn,
                clock: Clock::start(),
            }),
        })
    }

    /// Tells what happened: durable when it returns.
    pub(crate) async fn append(
        &self,
        happened: impl IntoIterator<Item = EntryBody>,
    ) -> Result<(), StoreError> {
        self.append_as(None, happened).await
    }

    /// Appends what a principal caused: durable when it returns.
    pub(crate) async fn append_as(
        &self,
        principal: Option<&PrincipalRecord>,
        happened: impl IntoIterator<Item = EntryBody>,
    ) -> Result<(), StoreError> {
        let mut lost = self.append_lock.lock().await;
        if let Some(why) = &*lost {
            return Err(StoreError::new(why));
        }
        let now = self.now();
        let entries: Result<Vec<Entry>, StoreError> = happened
            .into_iter()
            .map(
                |what| Ok(Entry::new(random_hex(8)?, now, what).with_principal(principal.cloned())),
            )
            .collect();
        let entries = entries?;
        *lost = Some("nobody waited until what came before was kept".to_owned());
        let appended = self.store.append(&self.lease, &entries).await;
        *lost = appended.as_ref().err().map(ToString::to_string);
        appended?;
        let mut told = self.state();
        for entry in entries {
            told.turn.apply(&entry);
            told.entries.push(entry);
        }
        Ok(())
    }

    /// Goes on within these limits, after a time that does not count.
    pub(crate) fn resume(&self, limits: TurnLimits) {
        let mut told = self.state();
        told.clock = Clock::start();
        let now = told.clock.now();
        told.turn.resume(limits, now);
    }

    /// Milliseconds since 1970, by the clock of the turn.
    pub(crate) fn now(&self) -> u64 {
        self.state().clock.now()
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// What a call was asked about with, last.
    pub(crate) fn approval_request(&self, call: &CallId) -> Option<(Value, ApprovalToken)> {
        let told = self.state();
        let mut newest = told.entries.iter().rev();
        newest.find_map(|entry| match &entry.body {
            EntryBody::ApprovalRequested {
                call: asked,
                arguments,
                token,
            } if asked == call => Some((arguments.clone(), token.clone())),
            _ => None,
        })
    }

    /// What was told so far.
    pub(crate) fn state(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
