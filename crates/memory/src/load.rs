//! How far behind a store is, and whether it could be written lately: whether it can take on new work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolwright_chat::StoreError;

/// How long a new write may have to wait before new work is refused: a third of the life that a lease has by default.
/// It is renewed after another third, so a renewal that waits in the longest line is still in time.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How long a write that succeeded, or a probe that failed, stands for the next one.
const FRESH: Duration = Duration::from_secs(1);

/// Measures the writes of a store.
#[derive(Default)]
pub(crate) struct Load {
    /// Writes that wait or run.
    pending: AtomicUsize,
    measured: Mutex<Measured>,
    /// Held by the check that probes; the others wait for its result instead of writing, too.
    probing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Measured {
    /// The time from one write that is done to the next, on average, while writes wait.
    interval: Duration,
    done: Option<Instant>,
    written: Option<Instant>,
    failed: Option<(Instant, String)>,
}

impl Load {
    /// Runs a write and measures it.
    pub(crate) async fn run<T, E>(
        &self,
        write: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let _pending = Pending::begin(&self.pending);
        let began = Instant::now();
        let done = write.await;
        let mut measured = self.measured();
        measured.add(began);
        if done.is_err() {
            measured.written = None;
        }
        done
    }

    /// Notes that something was written for good.
    pub(crate) fn wrote(&self) {
        let mut measured = self.measured();
        measured.written = Some(Instant::now());
        measured.failed = None;
    }

    /// Returns an error if too many writes wait, or if nothing was written lately and `probe` cannot write, either.
    pub(crate) async fn check(
        &self,
        place: impl FnOnce() -> String,
        probe: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<(), StoreError> {
        let wait = self.wait();
        if wait > LONGEST_WAIT {
            let message = format!(
                "{} cannot keep up: a write waits for about {} seconds",
                place(),
                wait.as_secs()
            );
            return Err(StoreError::overloaded(message, wait - LONGEST_WAIT));
        }
        if let Some(known) = self.known() {
            return known;
        }
        let _one = self.probing.lock().await;
        if let Some(known) = self.known() {
            return known;
        }
        let probed = self.run(probe).await;
        match &probed {
            Ok(()) => self.wrote(),
            Err(error) => self.measured().failed = Some((Instant::now(), error.to_string())),
        }
        probed
    }

    /// What is known without a probe.
    fn known(&self) -> Option<Result<(), StoreError>> {
        let measured = self.measured();
        let is_fresh = |at: &Instant| at.elapsed() < FRESH;
        if measured.written.as_ref().is_some_and(is_fresh) {
            return Some(Ok(()));
        }
        let failed = measured.failed.as_ref().filter(|(at, _)| is_fresh(at));
        failed.map(|(_, message)| Err(StoreError::new(message)))
    }

    /// How long a write that came now would wait.
    fn wait(&self) -> Duration {
        let pending = self.pending.load(Ordering::Relaxed);
        let pending = u32::try_from(pending).unwrap_or(u32::MAX);
        self.measured().interval.saturating_mul(pending)
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Measured {
    /// Adds a write that is done to the average.
    fn add(&mut self, began: Instant) {
        let now = Instant::now();
        // A store that had nothing to do was not slow.
        let since = self.done.map_or(began, |done| done.max(began));
        let interval = now.saturating_duration_since(since);
        self.interval = match self.done {
            Some(_) => (self.interval * 15 + interval) / 16,
            None => interval,
        };
        self.done = Some(now);
    }
}

/// Counts a write, however it ends.
struct Pending<'a>(&'a AtomicUsize);

impl<'a> Pending<'a> {
    fn begin(pending: &'a AtomicUsize) -> Self {
        pending.fetch_add(1, Ordering::Relaxed);
        Self(pending)
    }
}

impl Drop for Pending<'_> {
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

    fn place() -> String {
        "it".to_owned()
    }

    #[tokio::test]
    async fn a_store_with_too_long_a_line_of_writers_takes_on_no_more() {
        let load = Load::default();
        load.check(place, written()).await.unwrap();
        load.measured().interval = Duration::from_millis(200);
        let mut writers: Vec<_> = (0..60)
            .map(|_| Box::pin(load.run(pending::<Result<(), StoreError>>())))
            .collect();
        for writer in &mut writers {
            assert!(writer.as_mut().now_or_never().is_none());
        }
        let refused = load.check(place, written()).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "it cannot keep up: a write waits for about 12 seconds"
        );
        assert_eq!(refused.retry_after(), Some(Duration::from_secs(2)));
        writers.truncate(40);
        load.check(place, written()).await.unwrap();
    }

    #[tokio::test]
    async fn what_was_written_lately_is_not_probed_and_what_failed_is() {
        let load = Load::default();
        let fails = || ready(Err::<(), _>(StoreError::new("the disk is full")));
        load.wrote();
        load.check(place, pending()).await.unwrap();
        load.run(fails()).await.unwrap_err();
        let refused = load.check(place, fails()).await.unwrap_err();
        assert_eq!(refused.to_string(), "the disk is full");
        let refused = load.check(place, pending()).await.unwrap_err();
        assert_eq!(refused.to_string(), "the disk is full", "known for a while");
        load.wrote();
        load.check(place, pending()).await.unwrap();
    }
}
