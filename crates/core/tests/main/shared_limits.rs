//! Limits that the calls of several nodes count towards together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use toolwright::{
    CallScope, Caller, Invoker, MemorySharedState, Outcome, RateLimit, SharedState,
    SharedStateError, SharedStateFuture, SharedValue, TimeToLive, ToolCall,
};

use crate::fixtures::{registry, tool_named};

const MINUTE: Duration = Duration::from_secs(60);

fn ada() -> CallScope {
    CallScope::new().caller(Caller::new("ada"))
}

/// Two nodes with the same limit of two calls per minute.
fn limited_together(state: &SharedCounts) -> [Invoker; 2] {
    [(), ()].map(|()| {
        let registry = registry(vec![tool_named("one"), tool_named("two")]);
        let view = registry.all().layer(RateLimit::new(2, MINUTE));
        Invoker::builder(view).shared_state(state.clone()).build().unwrap()
    })
}

#[tokio::test(start_paused = true)]
async fn calls_of_all_nodes_count_together_where_they_share_state() {
    let [one, two] = limited_together(&SharedCounts::default());
    let call = ToolCall::new("one", "{}");
    for invoker in [&one, &two] {
        assert!(!invoker.invoke(&call).await.is_error());
    }
    for invoker in [&one, &two] {
        let refused = invoker.invoke(&call).await;
        assert_eq!(refused.text(), "`one` was called too often: try again in 60 s");
        assert!(!invoker.invoke(&ToolCall::new("two", "{}")).await.is_error());
        assert!(!invoker.invoke_in(&ada(), &call).await.is_error());
    }
    assert_eq!(one.invoke(&ToolCall::new("two", "{}")).await.outcome, Outcome::Denied);
    assert_eq!(two.invoke_in(&ada(), &call).await.outcome, Outcome::Denied);
    tokio::time::advance(MINUTE).await;
    assert!(!two.invoke(&call).await.is_error());
}

#[tokio::test(start_paused = true)]
async fn each_node_counts_its_own_calls_while_the_shared_state_is_away() {
    let state = SharedCounts::default();
    let nodes = limited_together(&state);
    let call = ToolCall::new("one", "{}");
    state.is_unreachable.store(true, SeqCst);
    for expected in [Outcome::Ok, Outcome::Ok, Outcome::Denied] {
        for invoker in &nodes {
            assert_eq!(invoker.invoke(&call).await.outcome, expected);
        }
    }
    state.is_unreachable.store(false, SeqCst);
    // The shared state is asked again after a while, and has counted none of these calls.
    tokio::time::advance(MINUTE / 10).await;
    for expected in [Outcome::Ok, Outcome::Denied] {
        for invoker in &nodes {
            assert_eq!(invoker.invoke(&call).await.outcome, expected);
        }
    }
}

/// Shared state that a test makes unreachable, as `toolwright::testing` has one; that crate is above this one.
#[derive(Clone, Default)]
struct SharedCounts {
    state: Arc<MemorySharedState>,
    is_unreachable: Arc<AtomicBool>,
}

impl SharedCounts {
    fn unless_unreachable<'a, T: Send + 'a>(
        &'a self,
        operation: SharedStateFuture<'a, T>,
    ) -> SharedStateFuture<'a, T> {
        match self.is_unreachable.load(SeqCst) {
            true => Box::pin(async { Err(SharedStateError::new("cannot be reached")) }),
            false => operation,
        }
    }
}

impl SharedState for SharedCounts {
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
