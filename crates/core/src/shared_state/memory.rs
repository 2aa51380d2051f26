//! Shared state in memory, for one process.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::key::{check_key, prefix_end};
use super::{Count, SharedState, SharedStateFuture};

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
    total: u64,
    expires_at: Option<Instant>,
}

/// The minimum of [`Spaces::sweep_threshold`].
const MIN_SWEEP_THRESHOLD: usize = 1024;

impl Stored {
    fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= Instant::now())
    }
}

impl Spaces {
    fn get(&mut self, space: &str, key: &str) -> Option<&mut Stored> {
        let stored = self.values.get_mut(&(space.to_owned(), key.to_owned()))?;
        (!stored.is_expired()).then_some(stored)
    }

    fn set(&mut self, space: &str, key: &str, value: &str, total: u64, ttl: Option<Duration>) {
        if self.values.len() >= self.sweep_threshold.max(MIN_SWEEP_THRESHOLD) {
            self.values.retain(|_, stored| !stored.is_expired());
            self.sweep_threshold = 2 * self.values.len();
        }
        // A time that is too far away to be represented never comes.
        let expires_at = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        let stored = Stored { value: value.to_owned(), total, expires_at };
        self.values.insert((space.to_owned(), key.to_owned()), stored);
    }
}

impl MemorySharedState {
    /// Creates an empty state.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs an operation on a key of valid length.
    fn run<'a, T: Send + 'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        operation: impl FnOnce(&mut Spaces) -> T + Send + 'a,
    ) -> SharedStateFuture<'a, T> {
        Box::pin(async move {
            check_key(space, key)?;
            Ok(operation(&mut self.spaces()))
        })
    }

    fn spaces(&self) -> MutexGuard<'_, Spaces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState for MemorySharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        self.run(space, key, |spaces| spaces.get(space, key).map(|stored| stored.value.clone()))
    }

    fn put<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, ()> {
        self.run(space, key, move |spaces| spaces.set(space, key, value, 0, ttl))
    }

    fn insert<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        self.run(space, key, move |spaces| {
            let is_free = spaces.get(space, key).is_none();
            if is_free {
                spaces.set(space, key, value, 0, ttl);
            }
            is_free
        })
    }

    fn replace<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        self.run(space, key, move |spaces| {
            let is_expected = spaces.get(space, key).is_some_and(|stored| stored.value == expected);
            if is_expected {
                spaces.set(space, key, value, 0, ttl);
            }
            is_expected
        })
    }

    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        self.run(space, key, |spaces| {
            let removed = spaces.values.remove(&(space.to_owned(), key.to_owned()));
            removed.filter(|stored| !stored.is_expired()).map(|stored| stored.value)
        })
    }

    fn remove_prefix<'a>(&'a self, prefix: &'a str) -> SharedStateFuture<'a, u64> {
        Box::pin(async move {
            let mut removed = 0;
            self.spaces().values.retain(|(_, key), stored| {
                let is_removed = key.starts_with(prefix);
                removed += u64::from(is_removed && !stored.is_expired());
                !is_removed
            });
            Ok(removed)
        })
    }

    fn list<'a>(
        &'a self,
        space: &'a str,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<(String, String)>> {
        self.run(space, prefix, move |spaces| {
            let from = Bound::Included((space.to_owned(), prefix.to_owned()));
            let end = prefix_end(prefix).map(|end| (space.to_owned(), end));
            let listed = spaces.values.range((from, end.map_or(Bound::Unbounded, Bound::Excluded)));
            let listed = listed
                .take_while(|((known, _), _)| known == space)
                .filter(|(_, stored)| !stored.is_expired())
                .take(limit);
            listed.map(|((_, key), stored)| (key.clone(), stored.value.clone())).collect()
        })
    }

    fn count<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
        limit: u64,
        window: Duration,
    ) -> SharedStateFuture<'a, Count> {
        self.run(space, key, move |spaces| {
            let known = spaces.get(space, key).map(|stored| {
                let left = stored.expires_at.map(|at| at.saturating_duration_since(Instant::now()));
                (stored.total, left)
            });
            let (total, resets_in) = match known {
                Some((total, Some(left))) if left <= window => (total, left),
                _ => (0, window),
            };
            let sum = total.checked_add(amount).filter(|sum| *sum <= limit);
            if let Some(sum) = sum
                && amount > 0
            {
                spaces.set(space, key, "", sum, Some(resets_in));
            }
            Count::new(sum.is_some(), sum.unwrap_or(total), resets_in)
        })
    }

    fn uncount<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
    ) -> SharedStateFuture<'a, ()> {
        self.run(space, key, move |spaces| {
            if let Some(stored) = spaces.get(space, key) {
                stored.total = stored.total.saturating_sub(amount);
            }
        })
    }
}
