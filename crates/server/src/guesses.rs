//! A limit on wrong tokens, per address of the client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Wrong tokens per address and window, at most.
const MOST: u32 = 10;

/// How long wrong tokens count.
const WINDOW: Duration = Duration::from_secs(60);

/// Addresses that are counted apart; what comes from more is counted together.
const MOST_ADDRESSES: usize = 4096;

/// The wrong tokens of the last while.
#[derive(Default)]
pub(crate) struct Guesses(Mutex<HashMap<Option<IpAddr>, Count>>);

struct Count {
    wrong: u32,
    until: Instant,
}

impl Guesses {
    /// Returns how long a client has to wait before it may try another token; nothing, if it may now.
    pub(crate) fn wait(&self, from: Option<IpAddr>) -> Option<Duration> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get(&from).or_else(|| match counts.len() {
            MOST_ADDRESSES.. => counts.get(&None),
            _ => None,
        })?;
        let left = count.until.checked_duration_since(Instant::now())?;
        (count.wrong >= MOST).then_some(left)
    }

    /// Counts a wrong token.
    pub(crate) fn add(&self, from: Option<IpAddr>) {
        let now = Instant::now();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.retain(|_, count| count.until > now);
        let from = from.filter(|_| counts.len() < MOST_ADDRESSES || counts.contains_key(&from));
        let count = counts.entry(from).or_insert(Count {
            wrong: 0,
            until: now + WINDOW,
        });
        count.wrong = count.wrong.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_was_wrong_too_often_waits_and_others_do_not() {
        let guesses = Guesses::default();
        let (one, two) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        for _ in 0..MOST {
            assert_eq!(guesses.wait(Some(one)), None);
            guesses.add(Some(one));
        }
        assert_eq!(guesses.wait(Some(one)), Some(WINDOW));
        assert_eq!(guesses.wait(Some(two)), None);
        tokio::time::advance(WINDOW).await;
        assert_eq!(guesses.wait(Some(one)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_take_no_more_room_and_are_limited_together() {
        let guesses = Guesses::default();
        for at in 0..100_000_u32 {
            guesses.add(Some(IpAddr::from(at.to_be_bytes())));
        }
        assert!(guesses.0.lock().unwrap().len() <= MOST_ADDRESSES + 1);
        assert!(guesses.wait(Some([255, 0, 0, 1].into())).is_some());
    }
}
