//! Counters of this process, which count while the shared state cannot be reached.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{Count, SharedStateError};

/// How long a caller waits for the shared state.
const SHARED_STATE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the shared state is not asked again after it has failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The maximum number of windows in memory; the oldest are evicted first.
const MAX_TRACKED_WINDOWS: usize = 10_000;

/// Counters of one process, each in a fixed window: [`SharedState::count`](super::SharedState::count) for one node.
pub struct LocalWindows<K>(Mutex<HashMap<K, Window>>);

/// The current window of a key.
struct Window {
    resets_at: Instant,
    total: u64,
}

impl<K> Default for LocalWindows<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> LocalWindows<K> {
    /// Adds `amount` to the counter of a key, unless the sum would exceed `limit`.
    pub fn count(&self, key: K, amount: u64, limit: u64, window: Duration) -> Count {
        let now = Instant::now();
        let mut windows = self.windows();
        if windows.len() >= MAX_TRACKED_WINDOWS && !windows.contains_key(&key) {
            windows.retain(|_, window| window.resets_at > now);
            evict_oldest(&mut windows);
        }
        let fresh = || Window { resets_at: now + window, total: 0 };
        let current = windows.entry(key).or_insert_with(fresh);
        if current.resets_at <= now {
            *current = fresh();
        }
        let sum = current.total.checked_add(amount).filter(|sum| *sum <= limit);
        current.total = sum.unwrap_or(current.total);
        Count::new(sum.is_some(), current.total, current.resets_at.saturating_duration_since(now))
    }

    /// Subtracts `amount` from the counter of a key, at most to zero.
    pub fn uncount(&self, key: &K, amount: u64) {
        if let Some(window) = self.windows().get_mut(key) {
            window.total = window.total.saturating_sub(amount);
        }
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<K, Window>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Evicts the oldest tenth if the windows that have not ended alone reach the maximum.
fn evict_oldest<K: Eq + Hash>(windows: &mut HashMap<K, Window>) {
    if windows.len() < MAX_TRACKED_WINDOWS {
        return;
    }
    let mut ends: Vec<Instant> = windows.values().map(|window| window.resets_at).collect();
    let (_, oldest, _) = ends.select_nth_unstable(MAX_TRACKED_WINDOWS / 10);
    let oldest = *oldest;
    windows.retain(|_, window| window.resets_at > oldest);
}

/// A circuit breaker: after a failure of the shared state, it is left alone for a few seconds.
#[derive(Default)]
pub struct SharedStateBreaker {
    /// Until then, the shared state is not asked.
    open_until: Mutex<Option<Instant>>,
}

/// The shared state has failed, now or a few seconds ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedStateAway {
    /// When it is asked again.
    pub retry_in: Duration,
}

impl SharedStateBreaker {
    /// Runs an operation, at most for five seconds, unless the last one has failed just now.
    ///
    /// # Errors
    ///
    /// When the operation fails, takes too long or was not run. `consequence` is logged with a failure.
    pub async fn run<T>(
        &self,
        operation: impl Future<Output = Result<T, SharedStateError>>,
        consequence: &str,
    ) -> Result<T, SharedStateAway> {
        if let Some(retry_in) = self.open_for() {
            return Err(SharedStateAway { retry_in });
        }
        let error = match timeout(SHARED_STATE_TIMEOUT, operation).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not respond".to_owned(),
        };
        tracing::warn!(error, "the shared state failed: {consequence}");
        let mut until = self.open_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = Some(Instant::now() + RETRY_INTERVAL);
        Err(SharedStateAway { retry_in: RETRY_INTERVAL })
    }

    fn open_for(&self) -> Option<Duration> {
        let until = *self.open_until.lock().unwrap_or_else(PoisonError::into_inner);
        until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_window_restarts_and_an_addition_can_be_undone() {
        let windows = LocalWindows::default();
        assert!(windows.count("a", 2, 2, MINUTE).is_admitted);
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_eq!(windows.count("a", 1, 2, MINUTE), Count::new(false, 2, Duration::from_secs(40)));
        assert!(windows.count("b", 1, 2, MINUTE).is_admitted);
        windows.uncount(&"a", 1);
        assert!(windows.count("a", 1, 2, MINUTE).is_admitted);
        tokio::time::advance(Duration::from_secs(40)).await;
        assert_eq!(windows.count("a", 1, 2, MINUTE), Count::new(true, 1, MINUTE));
    }

    #[tokio::test(start_paused = true)]
    async fn many_keys_take_no_more_room_than_the_maximum() {
        let windows = LocalWindows::default();
        for key in 0..3 * MAX_TRACKED_WINDOWS {
            windows.count(key, 1, 1, MINUTE);
        }
        assert!(windows.windows().len() <= MAX_TRACKED_WINDOWS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_that_failed_is_asked_again_later() {
        let breaker = SharedStateBreaker::default();
        let fails = async { Err::<(), _>(SharedStateError::new("gone")) };
        assert!(breaker.run(fails, "…").await.is_err());
        let works = async { Ok(7) };
        assert_eq!(
            breaker.run(works, "…").await,
            Err(SharedStateAway { retry_in: RETRY_INTERVAL })
        );
        tokio::time::advance(RETRY_INTERVAL).await;
        assert_eq!(breaker.run(async { Ok(7) }, "…").await, Ok(7));
        let hangs = std::future::pending::<Result<(), SharedStateError>>();
        assert!(breaker.run(hangs, "…").await.is_err());
    }
}
