//! The operations of shared state that are made of reads and swaps, while others change the same value.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::{
    Count, MemorySharedState, SharedState, SharedStateFuture, SharedValue, TimeToLive,
};

const MINUTE: Duration = Duration::from_secs(60);

type Meddling = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Shared state in memory in which something else happens before the next swap.
#[derive(Clone, Default)]
struct Meddled {
    state: Arc<MemorySharedState>,
    before_swap: Arc<Mutex<Option<Meddling>>>,
    swaps: Arc<AtomicU32>,
    loses_all: bool,
}

impl Meddled {
    /// Lets this happen between the next read and its swap.
    fn before_swap<F: Future<Output = ()> + Send + 'static>(
        &self,
        happens: impl FnOnce(Arc<MemorySharedState>) -> F,
    ) {
        *self.before_swap.lock().unwrap() = Some(Box::pin(happens(Arc::clone(&self.state))));
    }
}

impl SharedState for Meddled {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        self.state.get(space, key)
    }

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        self.swaps.fetch_add(1, SeqCst);
        let meddling = self.before_swap.lock().unwrap().take();
        Box::pin(async move {
            if let Some(meddling) = meddling {
                meddling.await;
            }
            Ok(!self.loses_all && self.state.swap(space, key, expected, new, ttl).await?)
        })
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        self.state.scan(space, prefix, limit)
    }
}

async fn count(state: &dyn SharedState, amount: u64, limit: u64, window: Duration) -> Count {
    state.count("calls", "a", amount, limit, window).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_swap_that_is_lost_is_decided_again() {
    let state = Meddled::default();
    let other = |state: Arc<MemorySharedState>| async move {
        count(&*state, 1, 2, MINUTE).await;
    };
    // Two of two.
    state.before_swap(other);
    let counted = count(&state, 1, 2, MINUTE).await;
    assert_eq!((counted.is_admitted, counted.total), (true, 2));
    // Both have seen one of two, and one was faster.
    state.uncount("calls", "a", 1).await.unwrap();
    state.before_swap(other);
    let counted = count(&state, 1, 2, MINUTE).await;
    assert_eq!((counted.is_admitted, counted.total), (false, 2));
    state.before_swap(|state| async move { state.uncount("calls", "a", 1).await.unwrap() });
    state.uncount("calls", "a", 1).await.unwrap();
    assert_eq!(count(&state, 0, 2, MINUTE).await.total, 0);

    state.before_swap(|state| async move { state.put("pin", "a", "theirs", None).await.unwrap() });
    state.put("pin", "a", "mine", None).await.unwrap();
    assert_eq!(state.get("pin", "a").await.unwrap().as_deref(), Some("mine"));
    state.before_swap(|state| async move { state.put("pin", "a", "new", None).await.unwrap() });
    assert_eq!(state.remove("pin", "a").await.unwrap().as_deref(), Some("new"));
    state.put("pin", "a", "last", None).await.unwrap();
    state.before_swap(|state| async move { drop(state.remove("pin", "a").await.unwrap()) });
    assert_eq!(state.remove("pin", "a").await.unwrap(), None);
    state.put("pin", "a", "last", None).await.unwrap();
    state.before_swap(|state| async move { state.put("pin", "a", "newer", None).await.unwrap() });
    assert_eq!(state.remove_prefix("a").await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_window_ends_when_its_first_addition_is_that_old() {
    let state = Meddled::default();
    for (seconds, total) in [(0, 1), (20, 2), (30, 3)] {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        assert_eq!(count(&state, 1, 9, MINUTE).await.total, total);
    }
    assert_eq!(count(&state, 0, 9, MINUTE).await.resets_in, Duration::from_secs(10));
    // It ends between the read and the swap.
    state.before_swap(|_| tokio::time::advance(Duration::from_secs(10)));
    let counted = count(&state, 1, 9, MINUTE).await;
    assert_eq!((counted.total, counted.resets_in), (1, MINUTE));
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_two_restart_at_the_same_time_restarts_once() {
    let state = Meddled::default();
    count(&state, 2, 9, 2 * MINUTE).await;
    // The other one restarts it first, and counts up to what it was.
    state.before_swap(|state| async move {
        assert_eq!(count(&*state, 1, 9, MINUTE).await.total, 1);
        assert_eq!(count(&*state, 1, 9, MINUTE).await.total, 2);
    });
    assert_eq!(count(&state, 1, 9, MINUTE).await.total, 3);
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_loses_every_swap_is_an_error() {
    let mut state = Meddled::default();
    state.put("pin", "a", "1", Some(MINUTE)).await.unwrap();
    state.loses_all = true;
    state.swaps.store(0, SeqCst);
    let started = tokio::time::Instant::now();
    for error in [
        state.put("pin", "a", "2", None).await.unwrap_err(),
        state.remove("pin", "a").await.unwrap_err(),
        state.remove_prefix("a").await.unwrap_err(),
        state.count("pin", "a", 1, 9, MINUTE).await.unwrap_err(),
        state.uncount("pin", "a", 1).await.unwrap_err(),
    ] {
        assert!(error.to_string().contains("64 times"), "{error}");
    }
    assert_eq!(state.swaps.load(SeqCst), 5 * 65);
    // Callers of shared state wait for five seconds.
    assert!(started.elapsed() < 5 * Duration::from_secs(5), "{:?}", started.elapsed());
}
