//! The operations that every [`SharedState`] has: loops of reads and swaps.
//!
//! A loop reads a value, decides, and swaps it. A swap that is lost means that another caller has changed the value, so the loop reads it
//! again. The clock is that of the store: a read tells how long a value has left, and [`TimeToLive::Unchanged`] keeps its end.

use std::time::Duration;

use tokio::time::sleep;

use super::{Count, SharedState, SharedStateError, SharedValue, TimeToLive};
use crate::backoff::Backoff;

/// The maximum number of swaps that one operation loses.
const MAX_LOST_SWAPS: u32 = 64;

/// The delay after the first lost swap; it doubles up to the maximum, and is random so that callers do not meet again.
const INITIAL_BACKOFF: Duration = Duration::from_millis(1);
const MAX_BACKOFF: Duration = Duration::from_millis(32);

/// The number of values that are read at a time to be removed.
const SCAN_SIZE: usize = 512;

/// The swaps that an operation has lost.
struct LostSwaps {
    number: u32,
    delays: Backoff,
}

impl LostSwaps {
    fn none() -> Self {
        let delays = Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF).jitter(0.0..1.0);
        Self { number: 0, delays }
    }

    /// Waits before the next attempt; an error if there were too many.
    async fn add(&mut self) -> Result<(), SharedStateError> {
        self.number += 1;
        if self.number > MAX_LOST_SWAPS {
            return Err(SharedStateError::new(format!(
                "others have changed a value of shared state {MAX_LOST_SWAPS} times in between: try again later"
            )));
        }
        sleep(self.delays.next().unwrap_or(MAX_BACKOFF)).await;
        Ok(())
    }
}

pub(super) async fn put<S: SharedState + ?Sized>(
    state: &S,
    space: &str,
    key: &str,
    value: &str,
    ttl: Option<Duration>,
) -> Result<(), SharedStateError> {
    let mut lost = LostSwaps::none();
    loop {
        let known = state.get(space, key).await?;
        if state.swap(space, key, known.as_deref(), Some(value), ttl.into()).await? {
            return Ok(());
        }
        lost.add().await?;
    }
}

pub(super) async fn remove<S: SharedState + ?Sized>(
    state: &S,
    space: &str,
    key: &str,
) -> Result<Option<String>, SharedStateError> {
    let mut lost = LostSwaps::none();
    while let Some(known) = state.get(space, key).await? {
        if state.swap(space, key, Some(&known), None, TimeToLive::Forever).await? {
            return Ok(Some(known));
        }
        lost.add().await?;
    }
    Ok(None)
}

pub(super) async fn remove_prefix<S: SharedState + ?Sized>(
    state: &S,
    prefix: &str,
) -> Result<u64, SharedStateError> {
    let (mut removed, mut lost) = (0, LostSwaps::none());
    loop {
        let known = state.scan(None, prefix, SCAN_SIZE).await?;
        let mut is_complete = known.len() < SCAN_SIZE;
        for SharedValue { space, key, value, .. } in known {
            if state.swap(&space, &key, Some(&value), None, TimeToLive::Forever).await? {
                removed += 1;
            } else {
                is_complete = false;
                lost.add().await?;
            }
        }
        if is_complete {
            return Ok(removed);
        }
    }
}

pub(super) async fn count<S: SharedState + ?Sized>(
    state: &S,
    space: &str,
    key: &str,
    amount: u64,
    limit: u64,
    window: Duration,
) -> Result<Count, SharedStateError> {
    let mut lost = LostSwaps::none();
    loop {
        let known = read(state, space, key).await?;
        let left = known.as_ref().and_then(|known| known.expires_in).filter(|left| *left <= window);
        let counter = known.as_ref().map(|known| Counter::parse(&known.value));
        let (counter, ttl) = match (counter, left) {
            (Some(counter), Some(_)) => (counter, TimeToLive::Unchanged),
            (Some(counter), None) => (counter.restart(), TimeToLive::For(window)),
            (None, _) => (Counter::default(), TimeToLive::For(window)),
        };
        let resets_in = left.unwrap_or(window);
        let sum = counter.total.checked_add(amount).filter(|sum| *sum <= limit);
        let Some(total) = sum.filter(|_| amount > 0) else {
            return Ok(Count::new(sum.is_some(), counter.total, resets_in));
        };
        let new = Counter { total, ..counter }.text();
        let known = known.as_ref().map(|known| &*known.value);
        if state.swap(space, key, known, Some(&new), ttl).await? {
            return Ok(Count::new(true, total, resets_in));
        }
        lost.add().await?;
    }
}

pub(super) async fn uncount<S: SharedState + ?Sized>(
    state: &S,
    space: &str,
    key: &str,
    amount: u64,
) -> Result<(), SharedStateError> {
    let mut lost = LostSwaps::none();
    while let Some(SharedValue { value, .. }) = read(state, space, key).await? {
        let counter = Counter::parse(&value);
        let new = Counter { total: counter.total.saturating_sub(amount), ..counter }.text();
        if state.swap(space, key, Some(&value), Some(&new), TimeToLive::Unchanged).await? {
            break;
        }
        lost.add().await?;
    }
    Ok(())
}

/// Returns the value of a key with the time that it has left: the key itself is the first of those that begin with it.
async fn read<S: SharedState + ?Sized>(
    state: &S,
    space: &str,
    key: &str,
) -> Result<Option<SharedValue>, SharedStateError> {
    let first = state.scan(Some(space), key, 1).await?.into_iter().next();
    Ok(first.filter(|first| first.key == key))
}

/// A counter as a value: `SUM/RESTARTS`.
#[derive(Clone, Copy, Default)]
struct Counter {
    total: u64,
    /// Counts restarts before the end of the window, so that two that are attempted at the same time do not both succeed: the value after
    /// the first is never again that of before.
    restarts: u64,
}

impl Counter {
    /// Reads a value. What is no number counts as zero.
    fn parse(value: &str) -> Self {
        let (total, restarts) = value.split_once('/').unwrap_or((value, ""));
        let number = |text: &str| text.parse().unwrap_or_default();
        Self { total: number(total), restarts: number(restarts) }
    }

    fn text(self) -> String {
        format!("{}/{}", self.total, self.restarts)
    }

    fn restart(self) -> Self {
        Self { total: 0, restarts: self.restarts.wrapping_add(1) }
    }
}
