//! One turn of a conversation at a time: by a queue within the process, by a lease among processes.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};
use toolwright_core::Backoff;

use crate::error::ChatError;
use crate::journal::store::{Lease, Store, StoreError};

/// The default of [`ChatBuilder::lease_duration`](crate::ChatBuilder::lease_duration).
pub(crate) const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(30);

/// How long to wait for a lease that another process holds.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60);

/// The delay before the second attempt to acquire a lease; it doubles up to the maximum.
const INITIAL_BACKOFF: Duration = Duration::from_millis(20);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// The maximum number of requests in the queue of a conversation; more would be outdated when they run.
pub(crate) const MAX_QUEUED: usize = 16;

/// The conversations whose turns run, each with a queue of waiting requests.
#[derive(Default)]
pub(crate) struct ConversationQueues(Mutex<HashMap<String, Weak<ConversationQueue>>>);

#[derive(Default)]
struct ConversationQueue {
    lock: Arc<tokio::sync::Mutex<()>>,
    queued: AtomicUsize,
}

/// The permit to run a turn; dropping it admits the next request of the queue.
pub(crate) struct TurnPermit {
    _lock: OwnedMutexGuard<()>,
    _queue: Arc<ConversationQueue>,
}

impl ConversationQueues {
    /// Waits for the turns that are queued before; fails if the queue is full.
    pub(crate) async fn acquire(&self, conversation: &str) -> Result<TurnPermit, ChatError> {
        let queue = {
            let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            queues.retain(|_, queue| queue.strong_count() > 0);
            let known = queues.get(conversation).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let queue = Arc::default();
                queues.insert(conversation.to_owned(), Arc::downgrade(&queue));
                queue
            })
        };
        if let Ok(lock) = Arc::clone(&queue.lock).try_lock_owned() {
            return Ok(TurnPermit { _lock: lock, _queue: queue });
        }
        let _slot = QueueSlot::enter(&queue)?;
        let lock = Arc::clone(&queue.lock).lock_owned().await;
        Ok(TurnPermit { _lock: lock, _queue: Arc::clone(&queue) })
    }
}

/// A slot in the queue; dropping it frees the slot.
struct QueueSlot<'a>(&'a ConversationQueue);

impl<'a> QueueSlot<'a> {
    fn enter(queue: &'a ConversationQueue) -> Result<Self, ChatError> {
        let before = queue.queued.fetch_add(1, Ordering::SeqCst);
        let slot = Self(queue);
        match before < MAX_QUEUED {
            true => Ok(slot),
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

/// A lease that is held; released when it is dropped.
pub(crate) struct LeaseGuard {
    store: Arc<dyn Store>,
    pub(crate) lease: Lease,
    duration: Duration,
    /// Kept until the lease is released: the next turn has the same holder, and would lose its lease to a late release.
    permit: Option<TurnPermit>,
}

impl LeaseGuard {
    /// Acquires the lease of a conversation, as soon as no other process holds it.
    pub(crate) async fn acquire(
        store: Arc<dyn Store>,
        lease: Lease,
        duration: Duration,
        permit: TurnPermit,
    ) -> Result<Self, ChatError> {
        let started = Instant::now();
        let mut backoff = Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF);
        while !store.acquire(&lease, duration).await? {
            if started.elapsed() >= ACQUIRE_TIMEOUT {
                let reason = StoreError::leased_elsewhere(&lease).to_string();
                return Err(ChatError::Busy { reason });
            }
            sleep(backoff.next().unwrap_or_default()).await;
        }
        Ok(Self { store, lease, duration, permit: Some(permit) })
    }

    /// Runs a future while the lease is renewed; fails as soon as the lease is lost.
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
                    // A renewal that is still in flight when the lease is released would acquire it again.
                    let _ = renewal.await;
                    return done;
                }
                renewed = &mut renewal => renewed,
            };
            match renewed {
                Ok(true) => {}
                Ok(false) => return Err(StoreError::leased_elsewhere(&self.lease).into()),
                // The store may recover before the lease expires; otherwise the next append fails.
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    pub(crate) async fn release(mut self) {
        let permit = self.permit.take();
        release_lease(&*self.store, &self.lease, permit).await;
    }
}

async fn release_lease(store: &dyn Store, lease: &Lease, permit: Option<TurnPermit>) {
    if let Err(error) = store.release(lease).await {
        tracing::warn!(%error, "a lease could not be given back; it ends by itself");
    }
    drop(permit);
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        // Without a runtime the lease expires by itself.
        if let Some(permit) = self.permit.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, lease) = (Arc::clone(&self.store), self.lease.clone());
            runtime.spawn(async move { release_lease(&*store, &lease, Some(permit)).await });
        }
    }
}
