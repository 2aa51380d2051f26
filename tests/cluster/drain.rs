//! A node that drains answers the requests that it has, and the balancer sends new ones elsewhere.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::HANG_TIMEOUT;
use test_support::api_client::history;
use test_support::cluster::{Cluster, ClusterSettings};
use test_support::http::{self, Response};

/// How long each request takes: longer than the balancer takes to notice that a node is away.
const REQUEST_MILLIS: u64 = 3_000;

/// How many requests are answered before a node is drained.
const REQUESTS_BEFORE: usize = 300;

fn post(address: SocketAddr, path: &str, body: &Value) -> Response {
    http::send(address, "POST", path, &body.to_string()).unwrap()
}

fn call_tool(address: SocketAddr, tool: &str, order: &str) -> Response {
    post(address, &format!("/api/tools/{tool}"), &json!({ "arguments": { "order": order } }))
}

fn complete(address: SocketAddr, order: &str) -> Response {
    let message = json!({ "role": "user", "content": format!("look {order}") });
    let body = json!({ "model": "paced", "messages": [message] });
    post(address, "/v1/chat/completions", &body)
}

/// Waits until the tools have had so many effects.
fn wait_for_effects(cluster: &Cluster, count: usize) {
    let began = Instant::now();
    while history::read_effects(&cluster.effects()).len() < count {
        assert!(began.elapsed() < HANG_TIMEOUT, "the requests do not begin");
        thread::park_timeout(Duration::from_millis(10));
    }
}

/// Has a node drain while requests arrive at the balancer, none of which may be rejected.
fn drain_while_requests_arrive(cluster: &mut Cluster, node: usize) {
    let address = cluster.address();
    let count = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (count, is_over) = (&count, &is_over);
        let others = scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let n = count.load(Ordering::Relaxed);
                let response = call_tool(address, "look", &format!("other.{n}"));
                assert_eq!(response.status, 200, "request {n}: {:?}", response.body);
                count.store(n + 1, Ordering::Relaxed);
            }
        });
        // By then the balancer has checked all nodes.
        while count.load(Ordering::Relaxed) < REQUESTS_BEFORE && !others.is_finished() {
            thread::park_timeout(Duration::from_millis(10));
        }
        let status = cluster.terminate(node);
        is_over.store(true, Ordering::Relaxed);
        assert!(status.success(), "{status}\n{}", cluster.log_of(node));
        others.join().unwrap();
    });
}

#[test]
fn no_request_is_rejected_while_an_idle_node_drains() {
    let Some(mut cluster) = Cluster::start(ClusterSettings::default()) else {
        return;
    };
    for node in 0..cluster.nodes.len() {
        drain_while_requests_arrive(&mut cluster, node);
        cluster.start_node(node);
        cluster.wait_until_ready();
    }
}

#[test]
fn a_node_that_drains_answers_the_requests_that_it_has() {
    let variables = vec![
        ("CLUSTER_ARCHIVE_MILLIS", REQUEST_MILLIS.to_string()),
        // An answer has at least as many pieces.
        ("CLUSTER_PIECE_MILLIS", (REQUEST_MILLIS / 15).to_string()),
        ("CLUSTER_GRACE_MILLIS", "30000".to_owned()),
    ];
    let settings = ClusterSettings { variables, ..ClusterSettings::default() };
    let Some(mut cluster) = Cluster::start(settings) else {
        return;
    };
    let addresses: Vec<SocketAddr> = cluster.nodes.iter().map(|node| node.address).collect();
    let nodes = addresses.len();
    // Each node receives one of each kind: a call, which is no turn, and a completion.
    let send = |request: fn(SocketAddr, String) -> Response, kind: &'static str| {
        let requests = addresses.iter().enumerate().map(|(n, address)| {
            let address = *address;
            thread::spawn(move || request(address, format!("{kind}.{n}")))
        });
        requests.collect::<Vec<_>>()
    };
    let calls = send(|address, order| call_tool(address, "archive", &order), "call");
    wait_for_effects(&cluster, nodes);
    let completions = send(|address, order| complete(address, &order), "completion");
    wait_for_effects(&cluster, 2 * nodes);
    drain_while_requests_arrive(&mut cluster, 0);
    for call in calls {
        let response = call.join().unwrap();
        assert_eq!(response.status, 200, "{:?}", response.body);
        assert_eq!(response.json().expect("a whole response")["outcome"], "ok");
    }
    for completion in completions {
        let response = completion.join().unwrap();
        assert_eq!(response.status, 200, "{:?}", response.body);
        let answer =
            &response.json().expect("a whole response")["choices"][0]["message"]["content"];
        assert!(answer.as_str().is_some_and(|it| it.contains("is answered")), "{answer}");
    }
}
