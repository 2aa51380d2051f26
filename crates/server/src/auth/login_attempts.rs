//! A limit on failed logins per client address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The maximum number of failures per address and window.
const MAX_FAILURES: u32 = 10;

/// The window in which failures are counted.
const FAILURE_WINDOW: Duration = Duration::from_secs(60);

/// The maximum number of addresses that are counted separately; further ones share one count.
const MAX_TRACKED_ADDRESSES: usize = 4096;

/// Recent failed logins.
#[derive(Default)]
pub(crate) struct LoginAttempts(Mutex<HashMap<Option<IpAddr>, AttemptCount>>);

struct AttemptCount {
    failures: u32,
    resets_at: Instant,
}

impl LoginAttempts {
    /// Counts an attempt before the token is verified, so that concurrent attempts count, too; returns the time to wait if
    /// the limit is reached.
    pub(crate) fn record_attempt(&self, from: Option<IpAddr>) -> Result<(), Duration> {
        let now = Instant::now();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.retain(|_, count| count.resets_at > now);
        let from =
            from.filter(|_| counts.len() < MAX_TRACKED_ADDRESSES || counts.contains_key(&from));
        let count = counts
            .entry(from)
            .or_insert(AttemptCount { failures: 0, resets_at: now + FAILURE_WINDOW });
        if count.failures >= MAX_FAILURES {
            return Err(count.resets_at.saturating_duration_since(now));
        }
        count.failures += 1;
        Ok(())
    }

    /// Uncounts an attempt whose token was right.
    pub(crate) fn undo_attempt(&self, from: Option<IpAddr>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = from.filter(|_| counts.contains_key(&from));
        if let Some(count) = counts.get_mut(&from) {
            count.failures = count.failures.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn too_many_failures_block_an_address_and_no_other() {
        let attempts = LoginAttempts::default();
        let (one, two) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        for _ in 0..100 {
            assert_eq!(attempts.record_attempt(Some(one)), Ok(()));
            attempts.undo_attempt(Some(one));
        }
        for _ in 0..MAX_FAILURES {
            assert_eq!(attempts.record_attempt(Some(one)), Ok(()));
        }
        assert_eq!(attempts.record_attempt(Some(one)), Err(FAILURE_WINDOW));
        assert_eq!(attempts.record_attempt(Some(two)), Ok(()));
        tokio::time::advance(FAILURE_WINDOW).await;
        assert_eq!(attempts.record_attempt(Some(one)), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_take_no_more_room_and_are_limited_together() {
        let attempts = LoginAttempts::default();
        for at in 0..8_192_u32 {
            let _ = attempts.record_attempt(Some(IpAddr::from(at.to_be_bytes())));
        }
        assert!(attempts.0.lock().unwrap().len() <= MAX_TRACKED_ADDRESSES + 1);
        assert_eq!(attempts.record_attempt(Some([255, 0, 0, 1].into())), Err(FAILURE_WINDOW));
    }
}
