//! A node that ends leaves its turns to others: within twice the lease after a kill, at once when it drains.

use std::sync::Arc;

use test_support::api_client::client::{Acknowledgement, Client, Shared};
use test_support::api_client::history;
use test_support::cluster::{Cluster, ClusterSettings};
use toolwright::testing::SeededRng;

use super::leases::{LeaseRow, read_lease, wait_until_taken_over};

/// The lease in the test of a killed node, in milliseconds.
const LEASE_MILLIS: i64 = 3_000;

/// Starts a cluster in which a node runs a turn that does not end by itself; returns its client, that node, and the lease.
async fn start_hanging_turn(
    variables: Vec<(&'static str, String)>,
) -> Option<(Cluster, Client, usize, LeaseRow)> {
    let cluster = Cluster::start(ClusterSettings { variables, ..ClusterSettings::default() })?;
    let shared = Arc::new(Shared { is_balanced: true, ..Shared::of_one_server() });
    shared.address.set(Some(cluster.address()));
    let mut rng = SeededRng::new(7);
    let mut client = Client::new(&shared, "c".to_owned(), move |end| rng.below(end), None);
    assert_eq!(client.send_message("hang"), Acknowledgement::Accepted);
    let has_started = |client: &mut Client| {
        let journal = client.export();
        let turn = journal.as_ref().and_then(|journal| journal.open_turn());
        turn.is_some_and(|turn| turn.entries_of("started").next().is_some())
    };
    while !has_started(&mut client) {}
    let lease = read_lease(&cluster, "c").await;
    let holder = lease.holder.clone().expect("a node runs the turn");
    let node = cluster.node_named(&holder);
    Some((cluster, client, node, lease))
}

/// Lets the client stop the turn at its new node, and checks its journal.
fn finish(cluster: &Cluster, mut client: Client) {
    let journal = client.settle();
    assert_eq!(journal.turns.len(), 1);
    assert_eq!(journal.turns[0].end(), Some("cancelled"));
    history::check(&client, &journal, &history::read_effects(&cluster.effects()));
}

#[tokio::test]
async fn a_turn_of_a_killed_node_is_taken_over_within_twice_the_lease() {
    let variables = vec![("CLUSTER_LEASE_MILLIS", LEASE_MILLIS.to_string())];
    let Some((mut cluster, client, node, _)) = start_hanging_turn(variables).await else {
        return;
    };
    let before = read_lease(&cluster, "c").await;
    cluster.kill(node);
    let after = wait_until_taken_over(&cluster, "c", &before).await;
    // By the clock of the database, which the lease expires by.
    let took = after.now - before.now;
    assert!(took <= 2 * LEASE_MILLIS, "taken over after {took} ms");
    finish(&cluster, client);
}

#[tokio::test]
async fn a_turn_of_a_node_that_drains_is_handed_over() {
    // Neither does the lease expire nor a sweep find the turn.
    let variables = vec![
        ("CLUSTER_LEASE_MILLIS", "600000".to_owned()),
        ("CLUSTER_SWEEP_MILLIS", "600000".to_owned()),
    ];
    let Some((mut cluster, client, node, before)) = start_hanging_turn(variables).await else {
        return;
    };
    let status = cluster.terminate(node);
    assert!(status.success(), "{status}\n{}", cluster.log_of(node));
    wait_until_taken_over(&cluster, "c", &before).await;
    finish(&cluster, client);
}
