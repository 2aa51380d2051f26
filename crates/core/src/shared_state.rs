//! The [`SharedState`] role: small values and counters that all nodes of a cluster share.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

pub(crate) mod key;
pub(crate) mod local_windows;
mod memory;
mod provided;

pub use key::{check_shared_key, subject_key, subject_key_prefix};
pub use memory::MemorySharedState;

/// The future of an operation of a [`SharedState`].
pub type SharedStateFuture<'a, T> = BoxFuture<'a, Result<T, SharedStateError>>;

/// Small values by key that all nodes of a cluster share, and that may expire: sessions, pins, counters of limits.
///
/// A key belongs to a space, such as `mcp_session`, so that parts of a program do not collide; it has at most 1,024 bytes, and one
/// that belongs to a person begins with their [`subject_key_prefix`]. Times are those of the store, not of the nodes. Backups
/// contain the values that never expire, and no others.
///
/// A store implements [`get`](Self::get), [`swap`](Self::swap) and [`scan`](Self::scan). The other methods are made of these three, and a
/// store overrides one where it can do the same in a single statement.
///
/// Every change of a key is atomic: of several callers that compete for one key, exactly one succeeds. A caller that receives an error
/// does not know whether its operation took effect, and has to act as if it had failed. A counter that had to be retried may
/// have counted twice.
pub trait SharedState: Send + Sync + 'static {
    /// Returns the value of a key; `None` if there is none or it has expired.
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>>;

    /// Changes the value of a key from `expected` to `new`, where `None` is no value; returns false, and changes nothing, if the value is
    /// another one.
    ///
    /// A value that has expired is none. The comparison and the change are one atomic operation.
    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool>;

    /// Returns at most `limit` values whose keys begin with `prefix`, of one space or of all, ordered by space and key.
    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>>;

    /// Sets the value of a key, which expires after `ttl`; never, if `None`.
    fn put<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, ()> {
        Box::pin(provided::put(self, space, key, value, ttl))
    }

    /// Sets the value of a key that has none; returns false if it has one, which is left as it is.
    fn insert<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        self.swap(space, key, None, Some(value), ttl.into())
    }

    /// Sets the value of a key whose value is `expected`; returns false if it is another one or there is none.
    fn replace<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        self.swap(space, key, Some(expected), Some(value), ttl.into())
    }

    /// Removes a key and returns its value: of several callers, only one receives it.
    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(provided::remove(self, space, key))
    }

    /// Removes the keys that begin with `prefix` from all spaces, and returns their number. One that is added meanwhile may remain.
    fn remove_prefix<'a>(&'a self, prefix: &'a str) -> SharedStateFuture<'a, u64> {
        Box::pin(provided::remove_prefix(self, prefix))
    }

    /// Returns at most `limit` keys of a space that begin with `prefix`, with their values, ordered by key.
    fn list<'a>(
        &'a self,
        space: &'a str,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<(String, String)>> {
        Box::pin(async move {
            let values = self.scan(Some(space), prefix, limit).await?;
            Ok(values.into_iter().map(|it| (it.key, it.value)).collect())
        })
    }

    /// Adds `amount` to the counter of a key, unless the sum would exceed `limit`. The counter restarts at zero `window` after
    /// its first addition. An amount of 0 only reads it.
    ///
    /// All callers pass the same `window` for a key: a counter that would restart later than `window` from now restarts now.
    ///
    /// The value of a counter begins with its sum, in decimal digits, also where a store overrides this.
    fn count<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
        limit: u64,
        window: Duration,
    ) -> SharedStateFuture<'a, Count> {
        Box::pin(provided::count(self, space, key, amount, limit, window))
    }

    /// Subtracts `amount` from the counter of a key, at most to zero: undoes an addition.
    fn uncount<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
    ) -> SharedStateFuture<'a, ()> {
        Box::pin(provided::uncount(self, space, key, amount))
    }
}

// The three that stores implement, and the two that some override.
impl<S: SharedState + ?Sized> SharedState for Arc<S> {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        (**self).get(space, key)
    }

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        (**self).swap(space, key, expected, new, ttl)
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        (**self).scan(space, prefix, limit)
    }

    fn put<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, ()> {
        (**self).put(space, key, value, ttl)
    }

    fn count<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
        limit: u64,
        window: Duration,
    ) -> SharedStateFuture<'a, Count> {
        (**self).count(space, key, amount, limit, window)
    }
}

/// How long a value lives that [`SharedState::swap`] sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeToLive {
    /// Until it is removed.
    Forever,
    /// For this time, by the clock of the store.
    For(Duration),
    /// As long as the value that it replaces would have; forever, if it replaces none.
    Unchanged,
}

impl From<Option<Duration>> for TimeToLive {
    fn from(ttl: Option<Duration>) -> Self {
        ttl.map_or(Self::Forever, Self::For)
    }
}

/// A value with its key, as [`SharedState::scan`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedValue {
    /// The space of the key.
    pub space: String,
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// The time until it expires, by the clock of the store; `None` if it never does.
    pub expires_in: Option<Duration>,
}

impl SharedValue {
    /// Creates a value; for implementations of [`SharedState`].
    pub fn new(
        space: impl Into<String>,
        key: impl Into<String>,
        value: impl Into<String>,
        expires_in: Option<Duration>,
    ) -> Self {
        Self { space: space.into(), key: key.into(), value: value.into(), expires_in }
    }
}

/// The outcome of [`SharedState::count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// True if the amount was added.
    pub is_admitted: bool,
    /// The sum in the current window.
    pub total: u64,
    /// The time until the counter restarts.
    pub resets_in: Duration,
}

impl Count {
    /// Creates an outcome; for implementations of [`SharedState`].
    pub fn new(is_admitted: bool, total: u64, resets_in: Duration) -> Self {
        Self { is_admitted, total, resets_in }
    }
}

/// An error of a [`SharedState`]: it cannot be reached, or the key is too long.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SharedStateError {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl SharedStateError {
    /// Creates an error with a message that states the remedy.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Adds the source of the error.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}
