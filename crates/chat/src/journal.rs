//! The journal of the conversation whose turn runs: entries are stored first, and then applied to the turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tokio::time::Instant;
use toolwright_core::__internal::whole_millis;
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

/// The journal of one conversation, opened for appending with its lease.
pub(crate) struct Journal {
    pub(crate) conversation: String,
    store: Arc<dyn Store>,
    lease: Lease,
    /// Orders the appends of calls that run at the same time. Holds the error of an append that was perhaps not stored: after
    /// it, nothing more is appended.
    append_lock: tokio::sync::Mutex<Option<String>>,
    state: Mutex<JournalState>,
}

/// The entries that were read or appended, and the turn they lead to.
pub(crate) struct JournalState {
    pub(crate) entries: Vec<Entry>,
    pub(crate) turn: Turn,
    clock: Clock,
}

/// The clock of a turn: the system time when the turn starts or resumes, and monotonic from then on.
struct Clock {
    /// Since 1970, to the nanosecond: rounded, the clock would be behind the time of an approval that was issued just now.
    start_time: Duration,
    start_instant: Instant,
}

impl Clock {
    fn start() -> Self {
        // In this order: interrupted in between, the clock is ahead and not behind.
        let start_instant = Instant::now();
        let start_time = SystemTime::now().duration_since(UNIX_EPOCH);
        Self { start_time: start_time.unwrap_or_default(), start_instant }
    }

    /// Milliseconds since 1970.
    fn now(&self) -> u64 {
        let now = self.start_time.saturating_add(self.start_instant.elapsed());
        whole_millis(now)
    }
}

impl Journal {
    /// Reads the entries of the window, and the turn they lead to.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        lease: Lease,
        options: &TurnOptions,
    ) -> Result<Self, StoreError> {
        let conversation = lease.conversation.clone();
        let entries = options.window.load_entries(&store, &conversation).await?;
        let mut turn = Turn::new(options.limits.clone());
        entries.iter().for_each(|entry| turn.apply(entry));
        Ok(Self {
            conversation,
            store,
            lease,
            append_lock: tokio::sync::Mutex::default(),
            state: Mutex::new(JournalState { entries, turn, clock: Clock::start() }),
        })
    }

    /// Appends entries: durable when it returns.
    pub(crate) async fn append(
        &self,
        bodies: impl IntoIterator<Item = EntryBody>,
    ) -> Result<(), StoreError> {
        self.append_as(None, bodies).await
    }

    /// Appends entries that a principal caused: durable when it returns.
    pub(crate) async fn append_as(
        &self,
        principal: Option<&PrincipalRecord>,
        bodies: impl IntoIterator<Item = EntryBody>,
    ) -> Result<(), StoreError> {
        let mut failure = self.append_lock.lock().await;
        if let Some(message) = &*failure {
            return Err(StoreError::new(message));
        }
        let now = self.now();
        let entries: Result<Vec<Entry>, StoreError> = bodies
            .into_iter()
            .map(
                |body| Ok(Entry::new(random_hex(8)?, now, body).with_principal(principal.cloned())),
            )
            .collect();
        let entries = entries?;
        // Stays if this future is dropped before the store has answered.
        *failure = Some("an earlier append was cancelled before it was stored".to_owned());
        let appended = self.store.append(&self.lease, &entries).await;
        *failure = appended.as_ref().err().map(ToString::to_string);
        appended?;
        let mut state = self.state();
        for entry in entries {
            state.turn.apply(&entry);
            state.entries.push(entry);
        }
        Ok(())
    }

    /// Resumes the turn with these limits; the time since its last entry does not count.
    pub(crate) fn resume(&self, limits: TurnLimits) {
        let mut state = self.state();
        state.clock = Clock::start();
        let now = state.clock.now();
        state.turn.resume(limits, now);
    }

    /// Milliseconds since 1970, by the clock of the turn.
    pub(crate) fn now(&self) -> u64 {
        self.state().clock.now()
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Returns the arguments and the token of the last approval request for a call.
    pub(crate) fn approval_request(&self, call: &CallId) -> Option<(Value, ApprovalToken)> {
        let state = self.state();
        let mut newest = state.entries.iter().rev();
        newest.find_map(|entry| match &entry.body {
            EntryBody::ApprovalRequested { call: requested, arguments, token }
                if requested == call =>
            {
                Some((arguments.clone(), token.clone()))
            }
            _ => None,
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
