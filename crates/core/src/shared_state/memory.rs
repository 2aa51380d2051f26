//! Shared state in memory, for one process.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::key::{check_shared_key, prefix_end};
use super::{SharedState, SharedStateFuture, SharedValue, TimeToLive};

/// Shared state of one process: the default, which costs no store.
#[derive(Default)]
pub struct MemorySharedState(Mutex<Spaces>);

#[derive(Default)]
struct Spaces {
    values: BTreeMap<(String, String), Stored>,
    /// The number of keys at which expired ones are removed.
    sweep_threshold: usize,
}

struct Stored {
    value: String,
    expires_at: Option<Instant>,
}

/// The minimum of [`Spaces::sweep_threshold`].
const MIN_SWEEP_THRESHOLD: usize = 1024;

impl Stored {
    fn is_valid(&self, now: Instant) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }

    fn expires_in(&self, now: Instant) -> Option<Duration> {
        self.expires_at.map(|at| at.saturating_duration_since(now))
    }
}

impl Spaces {
    fn get(&self, space: &str, key: &str) -> Option<&Stored> {
        let stored = self.values.get(&(space.to_owned(), key.to_owned()));
        stored.filter(|stored| stored.is_valid(Instant::now()))
    }

    fn swap(
        &mut self,
        space: &str,
        key: &str,
        expected: Option<&str>,
        new: Option<&str>,
        ttl: TimeToLive,
    ) -> bool {
        let known = self.get(space, key);
        if known.map(|known| &*known.value) != expected {
            return false;
        }
        let expires_at = match ttl {
            TimeToLive::Forever => None,
            // A time that is too far away to be represented never comes.
            TimeToLive::For(time) => Instant::now().checked_add(time),
            TimeToLive::Unchanged => known.and_then(|known| known.expires_at),
        };
        let key = (space.to_owned(), key.to_owned());
        match new {
            Some(new) => {
                self.sweep();
                self.values.insert(key, Stored { value: new.to_owned(), expires_at });
            }
            None => drop(self.values.remove(&key)),
        }
        true
    }

    /// Removes expired values when there are twice as many as after the last time.
    fn sweep(&mut self) {
        if self.values.len() >= self.sweep_threshold.max(MIN_SWEEP_THRESHOLD) {
            let now = Instant::now();
            self.values.retain(|_, stored| stored.is_valid(now));
            self.sweep_threshold = 2 * self.values.len();
        }
    }

    fn scan(&self, space: Option<&str>, prefix: &str, limit: usize) -> Vec<SharedValue> {
        let now = Instant::now();
        let from = (space.unwrap_or_default().to_owned(), prefix.to_owned());
        let end = space.and_then(|space| Some((space.to_owned(), prefix_end(prefix)?)));
        let bounds = (Bound::Included(from), end.map_or(Bound::Unbounded, Bound::Excluded));
        let scanned = self
            .values
            .range(bounds)
            .take_while(|((known, _), _)| space.is_none_or(|space| known == space))
            .filter(|((_, key), stored)| key.starts_with(prefix) && stored.is_valid(now))
            .take(limit);
        let value = |((space, key), stored): (&(String, String), &Stored)| {
            SharedValue::new(space, key, &*stored.value, stored.expires_in(now))
        };
        scanned.map(value).collect()
    }
}

impl MemorySharedState {
    /// Creates an empty state.
    pub fn new() -> Self {
        Self::default()
    }

    fn spaces(&self) -> MutexGuard<'_, Spaces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState for MemorySharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        let value = || self.spaces().get(space, key).map(|stored| stored.value.clone());
        Box::pin(async move { check_shared_key(space, key).map(|()| value()) })
    }

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        let swap = move || self.spaces().swap(space, key, expected, new, ttl);
        Box::pin(async move { check_shared_key(space, key).map(|()| swap()) })
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        let scan = move || self.spaces().scan(space, prefix, limit);
        Box::pin(
            async move { check_shared_key(space.unwrap_or_default(), prefix).map(|()| scan()) },
        )
    }
}
