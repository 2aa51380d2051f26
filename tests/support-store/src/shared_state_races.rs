//! Two nodes compete for one key: exactly one of them succeeds, each time.

use std::sync::Arc;

use toolwright::SharedState;

use crate::Backend;
use crate::fixtures::{LONG, race_count};

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
