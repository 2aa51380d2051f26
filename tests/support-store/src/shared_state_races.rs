//! Two nodes compete for one key: exactly one of them succeeds, each time.

use std::sync::Arc;

use toolwright::{SharedState, TimeToLive};

use crate::Backend;
use crate::fixtures::{LONG, Primitives, race_count};

/// Two nodes, each with a store of its own.
async fn nodes(backend: &dyn Backend) -> [Arc<dyn SharedState>; 2] {
    [backend.open().await.shared_state(), backend.open().await.shared_state()]
}

/// Runs an attempt of each node at the same time, and returns how many of them succeeded.
async fn race<F>(
    nodes: &[Arc<dyn SharedState>; 2],
    attempt: impl Fn(Arc<dyn SharedState>, &'static str) -> F,
) -> usize
where
    F: Future<Output = bool> + Send + 'static,
{
    let [one, two] = nodes;
    let one = tokio::spawn(attempt(Arc::clone(one), "one"));
    let two = tokio::spawn(attempt(Arc::clone(two), "two"));
    usize::from(one.await.unwrap()) + usize::from(two.await.unwrap())
}

pub async fn one_of_two_nodes_inserts_a_key(backend: &dyn Backend) {
    let nodes = nodes(backend).await;
    for round in 0..race_count() {
        let key = round.to_string();
        let winners = race(&nodes, |state, name| {
            let key = key.clone();
            async move { state.insert("nonce", &key, name, Some(LONG)).await.unwrap() }
        });
        assert_eq!(winners.await, 1, "{round}");
    }
}

pub async fn one_of_two_nodes_replaces_a_value(backend: &dyn Backend) {
    let nodes = nodes(backend).await;
    for round in 0..race_count() {
        nodes[0].put("token", "a", "old", None).await.unwrap();
        let winners = race(&nodes, |state, name| async move {
            state.replace("token", "a", "old", name, None).await.unwrap()
        });
        assert_eq!(winners.await, 1, "{round}");
    }
}

pub async fn one_of_two_nodes_removes_a_value(backend: &dyn Backend) {
    let nodes = nodes(backend).await;
    for round in 0..race_count() {
        nodes[0].put("code", "a", "value", Some(LONG)).await.unwrap();
        let winners =
            race(
                &nodes,
                |state, _| async move { state.remove("code", "a").await.unwrap().is_some() },
            );
        assert_eq!(winners.await, 1, "{round}");
    }
}

pub async fn one_of_two_nodes_counts_the_last_unit(backend: &dyn Backend) {
    let nodes = nodes(backend).await;
    for round in 0..race_count() {
        let key = round.to_string();
        let limit = 1 + round as u64 % 3;
        if limit > 1 {
            let counted = nodes[0].count("calls", &key, limit - 1, limit, LONG).await.unwrap();
            assert!(counted.is_admitted, "{counted:?}");
        }
        let winners = race(&nodes, |state, _| {
            let key = key.clone();
            async move { state.count("calls", &key, 1, limit, LONG).await.unwrap().is_admitted }
        });
        assert_eq!(winners.await, 1, "{round}");
    }
}

/// Four callers: two nodes as they are, and two that have nothing but the three primitives.
async fn callers(backend: &dyn Backend) -> [Arc<dyn SharedState>; 4] {
    let [one, two] = nodes(backend).await;
    let made = |state: &Arc<dyn SharedState>| -> Arc<dyn SharedState> {
        Arc::new(Primitives(Arc::clone(state)))
    };
    [made(&one), made(&two), one, two]
}

pub async fn no_swap_of_many_callers_is_lost(backend: &dyn Backend) {
    let callers = callers(backend).await;
    let rounds = race_count() / 4;
    let increment = |state: Arc<dyn SharedState>| async move {
        for _ in 0..rounds {
            loop {
                let before = state.get("sum", "a").await.unwrap();
                let sum = before.as_ref().map_or(0, |sum| sum.parse::<usize>().unwrap());
                let (before, after) = (before.as_deref(), (sum + 1).to_string());
                if state.swap("sum", "a", before, Some(&after), TimeToLive::Forever).await.unwrap()
                {
                    break;
                }
            }
        }
    };
    let tasks = callers.each_ref().map(|state| tokio::spawn(increment(Arc::clone(state))));
    for task in tasks {
        task.await.unwrap();
    }
    let sum = callers[0].get("sum", "a").await.unwrap();
    assert_eq!(sum, Some((4 * rounds).to_string()));
}

pub async fn many_callers_count_up_to_the_limit_and_no_further(backend: &dyn Backend) {
    let callers = callers(backend).await;
    let rounds = race_count() / 4;
    let limit = 3 * rounds as u64;
    let count = |state: Arc<dyn SharedState>| async move {
        let mut admitted = 0;
        for round in 0..rounds {
            let counted = state.count("calls", "a", 1, limit, LONG).await.unwrap();
            assert!(counted.total <= limit, "{counted:?}");
            admitted += u64::from(counted.is_admitted);
            // Every other one is taken back, so that sums repeat.
            if counted.is_admitted && round % 2 == 0 {
                state.uncount("calls", "a", 1).await.unwrap();
                admitted -= 1;
            }
        }
        admitted
    };
    let tasks = callers.each_ref().map(|state| tokio::spawn(count(Arc::clone(state))));
    let mut admitted = 0;
    for task in tasks {
        admitted += task.await.unwrap();
    }
    let total = callers[0].count("calls", "a", 0, limit, LONG).await.unwrap().total;
    assert_eq!((admitted, total <= limit), (total, true));
}

pub async fn what_is_put_while_others_remove_is_removed_once(backend: &dyn Backend) {
    let callers = callers(backend).await;
    let rounds = race_count() / 4;
    let [one, two, three, four] = callers.each_ref().map(Arc::clone);
    let put = |state: Arc<dyn SharedState>, name: &'static str| async move {
        for round in 0..rounds {
            state.insert("code", &format!("{name}/{round}"), name, Some(LONG)).await.unwrap();
        }
        0
    };
    let remove = |state: Arc<dyn SharedState>| async move {
        let mut removed = 0;
        for round in 0..rounds {
            let code = state.remove("code", &format!("one/{round}")).await.unwrap();
            removed += u64::from(code.is_some()) + state.remove_prefix("two/").await.unwrap();
        }
        removed
    };
    let tasks = [
        tokio::spawn(put(one, "one")),
        tokio::spawn(put(three, "two")),
        tokio::spawn(remove(two)),
        tokio::spawn(remove(four)),
    ];
    let mut removed = 0;
    for task in tasks {
        removed += task.await.unwrap();
    }
    let left = callers[0].remove_prefix("").await.unwrap();
    assert_eq!(removed + left, 2 * rounds as u64);
}
