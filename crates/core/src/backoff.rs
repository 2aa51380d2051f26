//! [`Backoff`]: the delays between attempts.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::time::Duration;

/// An endless iterator of delays: each is twice as long as the one before, up to a maximum.
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// # use toolwright::Backoff;
/// let backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(5));
/// let delays: Vec<u64> = backoff.take(4).map(|delay| delay.as_secs()).collect();
/// assert_eq!(delays, [2, 4, 5, 5]);
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    next: Duration,
    max: Duration,
    jitter: Range<f64>,
}

impl Backoff {
    /// Starts with `first`; later delays are `max` or shorter.
    pub fn new(first: Duration, max: Duration) -> Self {
        Self { first, next: first, max, jitter: 1.0..1.0 }
    }

    /// Multiplies each delay by a random factor, so that clients that failed together do not retry together.
    #[must_use]
    pub fn jitter(mut self, factors: Range<f64>) -> Self {
        self.jitter = factors;
        self
    }

    /// Starts with the first delay again.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let delay = self.next;
        self.next = delay.saturating_mul(2).min(self.max);
        Some(with_jitter(delay, &self.jitter))
    }
}

/// Multiplies a delay by a random factor.
pub fn with_jitter(delay: Duration, factors: &Range<f64>) -> Duration {
    if factors.is_empty() {
        return delay;
    }
    // The hash of nothing is random, because the keys of the hasher are.
    let random = RandomState::new().hash_one(());
    let fraction = (random >> 11) as f64 / (1_u64 << 53) as f64;
    let factor = factors.start + (factors.end - factors.start) * fraction;
    Duration::try_from_secs_f64(delay.as_secs_f64() * factor).unwrap_or(delay)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn delays_double_up_to_the_maximum_and_start_again() {
        let seconds = Duration::from_secs;
        let mut backoff = Backoff::new(seconds(2), seconds(7));
        let delays: Vec<Duration> = backoff.by_ref().take(4).collect();
        assert_eq!(delays, [2, 4, 7, 7].map(seconds));
        backoff.reset();
        assert_eq!(backoff.next(), Some(seconds(2)));
    }

    #[test]
    fn jitter_stays_within_its_factors_and_differs() {
        let second = Duration::from_secs(1);
        let backoff = Backoff::new(second, second).jitter(0.5..1.5);
        let delays: HashSet<Duration> = backoff.take(50).collect();
        assert!(delays.iter().all(|delay| *delay >= second / 2 && *delay < second * 3 / 2));
        assert!(delays.len() > 1);
    }
}
