//! Shared state in memory that a test makes unreachable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolwright_core::{
    MemorySharedState, SharedState, SharedStateError, SharedStateFuture, SharedValue, TimeToLive,
};

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

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        self.unless_unreachable(self.state.swap(space, key, expected, new, ttl))
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        self.unless_unreachable(self.state.scan(space, prefix, limit))
    }
}
