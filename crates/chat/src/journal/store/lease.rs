//! One turn of a conversation at a time: in this process by queueing, among processes by a lease.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

use crate::error::ChatError;
use crate::journal::store::{Lease, Store, StoreError};

/// How long a lease lasts when its holder dies, unless said otherwise.
pub(crate) const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(30);

/// How long another process is waited for.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60);

/// Prompts that wait for their conversation, at most; more would only grow old.
pub(crate) const MAX_QUEUED: usize = 16;

/// The conversations whose turns run, each with a line of prompts that wait.
#[derive(Default)]
pub(crate) struct ConversationQueues(Mutex<HashMap<String, Weak<ConversationQueue>>>);

#[derive(Default)]
struct ConversationQueue {
    lock: Arc<tokio::sync::Mutex<()>>,
    queued: AtomicUsize,
}

/// The turn that runs now.
pub(crate) struct TurnPermit {
    _lock: OwnedMutexGuard<()>,
    _queue: Arc<ConversationQueue>,
}

impl ConversationQueues {
    /// Waits until it is this prompt's turn; refuses where too many wait already.
    pub(crate) async fn acquire(&self, conversation: &str) -> Result<TurnPermit, ChatError> {
        let line = {
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.retain(|_, line| line.strong_count() > 0);
            let known = lines.get(conversation).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let line = Arc::default();
                lines.insert(conversation.to_owned(), Arc::downgrade(&line));
                line
            })
        };
        if let Ok(turn) = Arc::clone(&line.lock).try_lock_owned() {
            return Ok(TurnPermit {
                _lock: turn,
                _queue: line,
            });
        }
        let _waiting = QueueSlot::enter(&line)?;
        let turn = Arc::clone(&line.lock).lock_owned().await;
        Ok(TurnPermit {
            _lock: turn,
            _queue: Arc::clone(&line),
        })
    }
}

/// One who waits; who gives up waiting makes room.
struct QueueSlot<'a>(&'a ConversationQueue);

impl<'a> QueueSlot<'a> {
    fn enter(line: &'a ConversationQueue) -> Result<Self, ChatError> {
        let before = line.queued.fetch_add(1, Ordering::SeqCst);
        let waiting = Self(line);
        match before < MAX_QUEUED {
            true => Ok(waiting),
            false => Err(ChatError::Busy {
                reason: format!("{MAX_QUEUED} prompts wait for this conversation already"),
            }),
        }
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.queued.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A lease that is held.
pub(crate) struct LeaseGuard {
    store: Arc<dyn Store>,
    pub(crate) lease: Lease,
    duration: Duration,
    /// Kept until the lease is given back: whoever comes next has the same name, and would lose it to a late release.
    permit: Option<TurnPermit>,
}

impl LeaseGuard {
    /// Takes a conversation, as soon as no other process has it.
    pub(crate) async fn acquire(
        store: Arc<dyn Store>,
        lease: Lease,
        life: Duration,
        place: TurnPermit,
    ) -> Result<Self, ChatError> {
        let began = Instant::now();
        let mut wait = Duration::from_millis(20);
        while !store.acquire(&lease, life).await? {
            if began.elapsed() >= ACQUIRE_TIMEOUT {
                let reason = StoreError::leased_elsewhere(&lease).to_string();
                return Err(ChatError::Busy { reason });
            }
            sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(1));
        }
        Ok(Self {
            store,
            lease,
            duration: life,
            permit: Some(place),
        })
    }

    /// Does something while the lease is renewed; stops when it is lost.
    pub(crate) async fn run_while_renewing<T>(
        &self,
        work: impl Future<Output = Result<T, ChatError>>,
    ) -> Result<T, ChatError> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = sleep(self.duration / 3) => {}
            }
            let mut renewal = self.store.acquire(&self.lease, self.duration);
            let renewed = tokio::select! {
                done = &mut work => {
                    // If it is still under way when the lease is given back, it takes it again.
                    let _ = renewal.await;
                    return done;
                }
                renewed = &mut renewal => renewed,
            };
            match renewed {
                Ok(true) => {}
                Ok(false) => return Err(StoreError::leased_elsewhere(&self.lease).into()),
                // It may come back before the lease is over; appending says so if it does not.
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    /// Gives it back.
    pub(crate) async fn release(mut self) {
        let place = self.permit.take();
        release_lease(&*self.store, &self.lease, place).await;
    }
}

async fn release_lease(store: &dyn Store, lease: &Lease, place: Option<TurnPermit>) {
    if let Err(error) = store.release(lease).await {
        tracing::warn!(%error, "a lease could not be given back; it ends by itself");
    }
    drop(place);
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        // Whoever drops a turn cannot wait; without a runtime the lease ends by itself.
        if let Some(place) = self.permit.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, lease) = (Arc::clone(&self.store), self.lease.clone());
            runtime.spawn(async move { release_lease(&*store, &lease, Some(place)).await });
        }
    }
}
