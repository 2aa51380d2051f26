//! The backlog of a store and the result of its last writes, which decide whether it can take on new work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolwright_chat::{Lease, StoreError};

use crate::codec::from_sql;

/// How long a new write may have to wait before new work is refused: a third of the default duration of a lease. A lease is
/// renewed after another third, so a renewal is in time even if it waits in the longest queue.
const MAX_WRITE_WAIT: Duration = Duration::from_secs(10);

/// How long the result of a write that succeeded, or of a probe that failed, is reused.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// How an append ends.
pub(crate) enum Appended {
    Done,
    /// The lease is not held.
    LeaseLost,
    /// An item that it takes is not in the inbox any more.
    ItemWithdrawn,
}

/// Measures the writes of a store.
#[derive(Default)]
pub(crate) struct WriteLoad {
    /// Writes that wait or run.
    pending: AtomicUsize,
    measured: Mutex<Measurements>,
    /// Locked by the check that probes; concurrent checks wait for its result instead of writing themselves.
    probing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Measurements {
    /// The moving average of the time between two completed writes, while writes wait.
    interval: Duration,
    /// When the last write completed, successful or not.
    completed: Option<Instant>,
    /// When the last write succeeded; `None` after one that failed.
    written: Option<Instant>,
    /// When the last probe failed, and its message.
    failed: Option<(Instant, String)>,
}

impl WriteLoad {
    /// Runs a write and measures it.
    pub(crate) async fn measure<T, E>(
        &self,
        write: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let _pending = PendingWrite::begin(&self.pending);
        let started = Instant::now();
        let result = write.await;
        let mut measured = self.measured();
        measured.record(started);
        if result.is_err() {
            measured.written = None;
        }
        result
    }

    /// Runs an append and measures it.
    pub(crate) async fn append(
        &self,
        lease: &Lease,
        append: impl Future<Output = Result<Appended, StoreError>>,
    ) -> Result<(), StoreError> {
        match self.measure(append).await? {
            Appended::Done => {
                self.record_write();
                Ok(())
            }
            Appended::LeaseLost => Err(StoreError::leased_elsewhere(&lease.conversation)),
            Appended::ItemWithdrawn => {
                Err(StoreError::Withdrawn { conversation: lease.conversation.clone() })
            }
        }
    }

    /// Adds to an inbox and measures it; `None` means that the inbox is full.
    pub(crate) async fn push(
        &self,
        push: impl Future<Output = Result<Option<i64>, StoreError>>,
    ) -> Result<Option<u64>, StoreError> {
        let pushed = self.measure(push).await?;
        if pushed.is_some() {
            self.record_write();
        }
        Ok(pushed.map(from_sql))
    }

    /// Records that a write was committed.
    fn record_write(&self) {
        let mut measured = self.measured();
        measured.written = Some(Instant::now());
        measured.failed = None;
    }

    /// Returns an error if too many writes wait, or if nothing was written recently and `probe` cannot write either.
    ///
    /// `label` names the store in the error message.
    pub(crate) async fn check(
        &self,
        label: impl FnOnce() -> String,
        probe: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<(), StoreError> {
        let wait = self.estimated_wait();
        if wait > MAX_WRITE_WAIT {
            let message = format!(
                "{} cannot keep up: a write waits for about {} seconds",
                label(),
                wait.as_secs()
            );
            return Err(StoreError::Overloaded { message, retry_after: wait - MAX_WRITE_WAIT });
        }
        if let Some(result) = self.cached_result() {
            return result;
        }
        let _guard = self.probing.lock().await;
        if let Some(result) = self.cached_result() {
            return result;
        }
        let probed = self.measure(probe).await;
        match &probed {
            Ok(()) => self.record_write(),
            Err(error) => self.measured().failed = Some((Instant::now(), error.to_string())),
        }
        probed
    }

    /// Returns the result of the last write or probe, if it is recent enough to be reused.
    fn cached_result(&self) -> Option<Result<(), StoreError>> {
        let measured = self.measured();
        let is_recent = |at: &Instant| at.elapsed() < CACHE_TIME;
        if measured.written.as_ref().is_some_and(is_recent) {
            return Some(Ok(()));
        }
        let failed = measured.failed.as_ref().filter(|(at, _)| is_recent(at));
        failed.map(|(_, message)| Err(StoreError::new(message)))
    }

    /// Returns the estimated wait of a write that is queued now.
    fn estimated_wait(&self) -> Duration {
        let pending = self.pending.load(Ordering::Relaxed);
        let pending = u32::try_from(pending).unwrap_or(u32::MAX);
        self.measured().interval.saturating_mul(pending)
    }

    fn measured(&self) -> MutexGuard<'_, Measurements> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Measurements {
    /// Adds a completed write to the average.
    fn record(&mut self, started: Instant) {
        let now = Instant::now();
        // Idle time does not count: it is no measure of the store's speed.
        let since = self.completed.map_or(started, |completed| completed.max(started));
        let interval = now.saturating_duration_since(since);
        self.interval = match self.completed {
            Some(_) => (self.interval * 15 + interval) / 16,
            None => interval,
        };
        self.completed = Some(now);
    }
}

/// Counts a write until it is dropped: completed, failed or cancelled.
struct PendingWrite<'a>(&'a AtomicUsize);

impl<'a> PendingWrite<'a> {
    fn begin(pending: &'a AtomicUsize) -> Self {
        pending.fetch_add(1, Ordering::Relaxed);
        Self(pending)
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use futures::future::{pending, ready};

    use super::*;

    fn written() -> impl Future<Output = Result<(), StoreError>> {
        ready(Ok(()))
    }

    fn label() -> String {
        "it".to_owned()
    }

    #[tokio::test]
    async fn a_store_whose_write_queue_is_too_long_refuses_new_work() {
        let load = WriteLoad::default();
        load.check(label, written()).await.unwrap();
        load.measured().interval = Duration::from_millis(200);
        let mut writers: Vec<_> =
            (0..60).map(|_| Box::pin(load.measure(pending::<Result<(), StoreError>>()))).collect();
        for writer in &mut writers {
            assert!(writer.as_mut().now_or_never().is_none());
        }
        let error = load.check(label, written()).await.unwrap_err();
        assert_eq!(error.to_string(), "it cannot keep up: a write waits for about 12 seconds");
        let StoreError::Overloaded { retry_after, .. } = error else { panic!("{error:?}") };
        assert_eq!(retry_after, Duration::from_secs(2));
        writers.truncate(40);
        load.check(label, written()).await.unwrap();
    }

    #[tokio::test]
    async fn a_store_is_probed_after_a_failed_write_and_not_after_a_recent_one() {
        let load = WriteLoad::default();
        let fails = || ready(Err::<(), _>(StoreError::new("the disk is full")));
        load.record_write();
        load.check(label, pending()).await.unwrap();
        load.measure(fails()).await.unwrap_err();
        let error = load.check(label, fails()).await.unwrap_err();
        assert_eq!(error.to_string(), "the disk is full");
        let error = load.check(label, pending()).await.unwrap_err();
        assert_eq!(error.to_string(), "the disk is full", "the failure is cached");
        load.record_write();
        load.check(label, pending()).await.unwrap();
    }
}
