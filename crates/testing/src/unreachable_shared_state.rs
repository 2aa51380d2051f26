//! Shared state in memory that a test makes unreachable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolwright_core::{Count, MemorySharedState, SharedState, SharedStateError, SharedStateFuture};

/// Shared state in memory, whose operations fail while it is unreachable; cheap to clone.
///
/// # Examples
///
/// ```
/// use toolwright::SharedState;
/// use toolwright::testing::UnreachableSharedState;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let state = UnreachableSharedState::new();
/// state.put("space", "key", "value", None).await.unwrap();
/// state.set_unreachable(true);
/// assert!(state.get("space", "key").await.is_err());
/// # });
/// ```
#[derive(Clone, Default)]
pub struct UnreachableSharedState {
    state: Arc<MemorySharedState>,
    is_unreachable: Arc<AtomicBool>,
}

impl UnreachableSharedState {
    /// Creates an empty state that can be reached.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether operations fail from now on.
    pub fn set_unreachable(&self, is_unreachable: bool) {
        self.is_unreachable.store(is_unreachable, Ordering::SeqCst);
    }

    fn unless_unreachable<'a, T: Send + 'a>(
        &'a self,
        operation: SharedStateFuture<'a, T>,
    ) -> SharedStateFuture<'a, T> {
        Box::pin(async move {
            if self.is_unreachable.load(Ordering::SeqCst) {
                return Err(SharedStateError::new("the shared state cannot be reached"));
            }
            operation.await
        })
    }
}

impl SharedState for UnreachableSharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        self.unless_unreachable(self.state.get(space, key))
    }

    fn put<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, ()> {
        self.unless_unreachable(self.state.put(space, key, value, ttl))
    }

    fn insert<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        self.unless_unreachable(self.state.insert(space, key, value, ttl))
    }

    fn replace<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        self.unless_unreachable(self.state.replace(space, key, expected, value, ttl))
    }

    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        self.unless_unreachable(self.state.remove(space, key))
    }

    fn remove_prefix<'a>(&'a self, prefix: &'a str) -> SharedStateFuture<'a, u64> {
        self.unless_unreachable(self.state.remove_prefix(prefix))
    }

    fn list<'a>(
        &'a self,
        space: &'a str,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<(String, String)>> {
        self.unless_unreachable(self.state.list(space, prefix, limit))
    }

    fn count<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
        limit: u64,
        window: Duration,
    ) -> SharedStateFuture<'a, Count> {
        self.unless_unreachable(self.state.count(space, key, amount, limit, window))
    }

    fn uncount<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
    ) -> SharedStateFuture<'a, ()> {
        self.unless_unreachable(self.state.uncount(space, key, amount))
    }
}
