//! Conversations whose requests go to another node each time, and what the nodes then measure.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use test_support::api_client::client::{Acknowledgement, Client, Shared};
use test_support::api_client::history;
use test_support::cluster::{BusKind, Cluster, ClusterSettings};
use test_support::{HANG_TIMEOUT, http, real};
use toolwright::testing::SeededRng;

#[test]
fn a_conversation_goes_on_at_every_node_and_the_dashboard_shows_it() {
    converse_at_every_node(BusKind::Nats);
}

#[test]
fn a_conversation_goes_on_at_every_node_with_postgresql_as_the_bus() {
    converse_at_every_node(BusKind::Postgres);
}

fn converse_at_every_node(bus: BusKind) {
    let Some(cluster) = Cluster::start(ClusterSettings { bus, ..ClusterSettings::default() })
    else {
        return;
    };
    let shared = Arc::new(Shared::of_one_server());
    shared.address.set(Some(cluster.address()));
    let mut rng = SeededRng::new(7);
    let mut client = Client::new(&shared, "c".to_owned(), move |end| rng.below(end), None);
    for tool in ["greet", "look", "charge", "slow", "greet", "refund"] {
        assert_eq!(client.send_message(tool), Acknowledgement::Accepted);
    }
    let journal = client.settle();
    assert_eq!(journal.turns.len(), 6);
    history::check(&client, &journal, &history::read_effects(&cluster.effects()));
    for node in &cluster.nodes {
        shared.address.set(Some(node.address));
        assert_eq!(client.export().unwrap().entries, journal.entries);
    }
    has_the_metrics_of_the_dashboard(&cluster);
}

/// Asserts that the nodes serve every metric that the dashboard names.
fn has_the_metrics_of_the_dashboard(cluster: &Cluster) {
    let message = json!({ "text": "fail f.1" }).to_string();
    let path = "/api/conversations/f/prompt";
    assert_eq!(http::send(cluster.address(), "POST", path, &message).unwrap().status, 202);
    let dashboard = real::root().join("deploy/grafana/toolwright.json");
    let dashboard = std::fs::read_to_string(dashboard).unwrap();
    let shown = metric_names(&dashboard);
    assert!(shown.len() > 15, "{shown:?}");
    let began = Instant::now();
    loop {
        let nodes = cluster.nodes.iter();
        let texts = nodes.map(|node| http::send(node.address, "GET", "/metrics", "").unwrap());
        let texts: String = texts.map(|response| response.body.unwrap()).collect();
        let served = metric_names(&texts);
        let missing: Vec<&&str> = shown.iter().filter(|name| !served.contains(*name)).collect();
        // The turn that fails ends some time.
        if missing != [&"toolwright_errors_total"] || began.elapsed() > HANG_TIMEOUT {
            assert!(missing.is_empty(), "the dashboard shows what no node measures: {missing:?}");
            return;
        }
    }
}

/// The names of metrics in a text.
fn metric_names(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_part(c));
    words.filter(|word| word.starts_with("toolwright_")).collect()
}
