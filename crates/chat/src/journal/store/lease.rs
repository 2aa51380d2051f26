//! One turn of a conversation at a time: by a lock within the process, by a lease among processes.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};
use toolwright_core::Backoff;

use crate::journal::store::{Lease, Store, StoreError};

/// The default of [`ChatBuilder::lease_duration`](crate::ChatBuilder::lease_duration).
pub(crate) const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(30);

/// How long to wait for a lease that another process holds, unless a caller has another limit.
pub const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60);

/// The delay before the second attempt to acquire a lease; it doubles up to the maximum.
const INITIAL_BACKOFF: Duration = Duration::from_millis(20);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// Locks the conversations whose turns run in this process.
///
/// All leases of a process have the same holder, so a lease alone would not keep its turns apart.
#[derive(Default)]
pub(crate) struct ConversationLocks(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl ConversationLocks {
    /// Waits for the turns that asked before.
    pub(crate) async fn lock(&self, conversation: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(conversation).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::default();
                locks.insert(conversation.to_owned(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

/// A lease that this process holds; released when it is dropped.
pub struct HeldLease {
    store: Arc<dyn Store>,
    lease: Lease,
    duration: Duration,
    is_released: AtomicBool,
}

impl HeldLease {
    /// Acquires the lease of a conversation; `None` if another holder has it.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub async fn try_acquire(
        store: Arc<dyn Store>,
        conversation: &str,
        holder: &str,
        duration: Duration,
    ) -> Result<Option<Self>, StoreError> {
        let lease = store.acquire(conversation, holder, duration).await?;
        Ok(lease.map(|lease| Self { store, lease, duration, is_released: AtomicBool::new(false) }))
    }

    /// Acquires the lease of a conversation as soon as no other holder has it; `None` after `timeout`.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub async fn acquire_within(
        timeout: Duration,
        store: Arc<dyn Store>,
        conversation: &str,
        holder: &str,
        duration: Duration,
    ) -> Result<Option<Self>, StoreError> {
        let started = Instant::now();
        let mut backoff = Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF);
        loop {
            let acquired =
                Self::try_acquire(Arc::clone(&store), conversation, holder, duration).await?;
            if acquired.is_some() || started.elapsed() >= timeout {
                return Ok(acquired);
            }
            sleep(backoff.next().unwrap_or_default()).await;
        }
    }

    /// Returns the lease, which [`Store::append`] requires.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Runs a future while the lease is renewed; fails as soon as the lease is lost.
    ///
    /// # Errors
    ///
    /// Those of the future, and [`StoreError::LeasedElsewhere`].
    pub async fn run_while_renewing<T, E: From<StoreError>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = sleep(self.duration / 3) => {}
            }
            let renewed = tokio::select! {
                biased;
                done = &mut work => return done,
                renewed = self.store.renew(&self.lease, self.duration) => renewed,
            };
            match renewed {
                Ok(true) => {}
                Ok(false) => {
                    return Err(StoreError::leased_elsewhere(&self.lease.conversation).into());
                }
                // The store may recover before the lease expires; otherwise the next append fails.
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    /// Releases the lease, so that another holder can acquire it at once.
    ///
    /// A turn that still uses it fails when it appends.
    pub async fn release(&self) {
        release_lease(&*self.store, &self.lease).await;
        // Only now: if this future is dropped before, the lease is released when it is dropped.
        self.is_released.store(true, Ordering::Relaxed);
    }
}

async fn release_lease(store: &dyn Store, lease: &Lease) {
    if let Err(error) = store.release(lease).await {
        tracing::warn!(%error, "a lease could not be released; it expires by itself");
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        // Without a runtime the lease expires by itself. A later acquisition has another term, which this does not release.
        if !self.is_released.load(Ordering::Relaxed)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, lease) = (Arc::clone(&self.store), self.lease.clone());
            runtime.spawn(async move { release_lease(&*store, &lease).await });
        }
    }
}
