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
    /// Counts a token before it is looked at, so that many at once are counted, too; returns how long the client has to wait
    /// if it may not try one now.
    pub(crate) fn add(&self, from: Option<IpAddr>) -> Result<(), Duration> {
        let now = Instant::now();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.retain(|_, count| count.until > now);
        let from = from.filter(|_| counts.len() < MOST_ADDRESSES || counts.contains_key(&from));
        let count = counts.entry(from).or_insert(Count {
            wrong: 0,
            until: now + WINDOW,
        });
        if count.wrong >= MOST {
            return Err(count.until.saturating_duration_since(now));
        }
        count.wrong += 1;
        Ok(())
    }

    /// Takes a token back that was not wrong.
    pub(crate) fn forgive(&self, from: Option<IpAddr>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = from.filter(|_| counts.contains_key(&from));
        if let Some(count) = counts.get_mut(&from) {
            count.wrong = count.wrong.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_was_wrong_too_often_waits_and_others_do_not() {
        let guesses = Guesses::default();
        let (one, two) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        for _ in 0..100 {
            assert_eq!(guesses.add(Some(one)), Ok(()));
            guesses.forgive(Some(one));
        }
        for _ in 0..MOST {
            assert_eq!(guesses.add(Some(one)), Ok(()));
        }
        assert_eq!(guesses.add(Some(one)), Err(WINDOW));
        assert_eq!(guesses.add(Some(two)), Ok(()));
        tokio::time::advance(WINDOW).await;
        assert_eq!(guesses.add(Some(one)), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_take_no_more_room_and_are_limited_together() {
        let guesses = Guesses::default();
        for at in 0..8_192_u32 {
            let _ = guesses.add(Some(IpAddr::from(at.to_be_bytes())));
        }
        assert!(guesses.0.lock().unwrap().len() <= MOST_ADDRESSES + 1);
        assert_eq!(guesses.add(Some([255, 0, 0, 1].into())), Err(WINDOW));
    }
}
