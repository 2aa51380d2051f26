//! 2024-11-05 to 2025-11-25: the handshake at one node, the requests at any.

use serde_json::{Value, json};
use test_support_mcp::client::{http_request, initialize, request};
use test_support_mcp::tools::text;
use toolwright::{Secret, tool};
use toolwright_mcp::{Revision, ServedResource};

use super::nodes::{Nodes, nodes, nodes_with};
use crate::oauth::with;

/// What was written down.
#[tool(read_only)]
pub(super) fn notes() -> &'static str {
    "nothing"
}

/// Two nodes with a resource at `shop://notes`.
pub(super) async fn nodes_with_notes() -> Nodes {
    nodes_with(|_, server| server.resource(ServedResource::new("shop://notes", notes::tool())))
        .await
}

fn revisions() -> impl Iterator<Item = &'static str> {
    let with_sessions = Revision::ALL.into_iter().filter(|it| !it.is_stateless());
    with_sessions.map(Revision::as_str)
}

#[tokio::test]
async fn every_revision_with_sessions_is_spoken_by_nodes_that_take_turns() {
    let nodes = nodes_with_notes().await;
    for revision in revisions() {
        let session = nodes.next().open_session(revision, json!({})).await;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(nodes.send(session.post(&initialized)).await.status, 202);
        for round in 0..4 {
            let call = session.call(round, "add", json!({ "a": 2, "b": round }));
            let answer = nodes.send(call).await;
            assert_eq!(text(&answer.json()["result"]), (2 + round).to_string(), "{answer:?}");
        }
        for method in ["tools/list", "prompts/list", "resources/list", "ping"] {
            let answer = nodes.send(session.post(&request(9, method, json!({})))).await;
            assert_eq!(answer.json()["id"], 9, "{method}: {answer:?}");
        }
        let known = nodes.send(session.call(5, "session", json!({}))).await;
        assert_eq!(text(&known.json()["result"]), session.id);
        let answer = nodes.send(session.post(&request(6, "no/such", json!({})))).await;
        assert_eq!(answer.code(), -32601, "{answer:?}");
        assert_eq!(nodes.send(session.delete()).await.status, 204);
        // The other node learns of it a moment later.
        for node in [&nodes.a, &nodes.b] {
            while node.send(session.ping()).await.status != 404 {
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test]
async fn the_revision_of_a_session_is_the_same_at_each_node() {
    let nodes = nodes().await;
    for (revision, structured) in [("2025-03-26", false), ("2025-06-18", true)] {
        let session = nodes.a.open_session(revision, json!({})).await;
        let below = session.call(1, "below", json!({ "n": 2 }));
        let result = nodes.b.send(below).await.json()["result"].clone();
        assert_eq!(result.get("structuredContent").is_some(), structured, "{result}");
        let batch = json!([request(1, "ping", json!({})), request(2, "ping", json!({}))]);
        let answer = nodes.b.send(session.post(&batch)).await;
        assert_eq!(answer.status, if structured { 400 } else { 200 }, "{answer:?}");
    }
}

#[tokio::test]
async fn a_known_session_is_served_without_reading_the_shared_state() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    nodes.b.send(session.ping()).await;
    let operations = |nodes: &Nodes| {
        let all = ["get", "swap", "scan"];
        all.map(|name| nodes.state.operations_of(&format!("{name} mcp_session")))
    };
    // A adds the record; B renews it once, after it has loaded it.
    while operations(&nodes) != [1, 2, 0] {
        tokio::task::yield_now().await;
    }
    for round in 0..100 {
        let answer = nodes.send(session.call(round, "add", json!({ "a": 1, "b": 1 }))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    assert_eq!(operations(&nodes), [1, 2, 0]);
}

#[tokio::test]
async fn a_session_ends_at_all_nodes_and_with_it_the_calls_in_flight() {
    let mut nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let waiting = nodes.a.connect(session.call(1, "wait", json!({}))).await;
    assert_eq!(nodes.a.kit.heard.recv().await, Some("started"));
    assert_eq!(nodes.b.send(session.delete()).await.status, 204);
    assert_eq!(nodes.a.kit.heard.recv().await, Some("dropped"));
    let answer = waiting.rest().await;
    assert!(!answer.body.contains(r#""id":1"#), "{answer:?}");
    assert_eq!(nodes.a.send(session.ping()).await.status, 404);
    assert_eq!(nodes.b.send(session.ping()).await.status, 404);
}

#[tokio::test]
async fn a_session_outlives_the_node_that_opened_it() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-06-18", json!({})).await;
    let Nodes { a, b, .. } = nodes;
    a.stop().await;
    let answer = b.send(session.call(1, "add", json!({ "a": 2, "b": 3 }))).await;
    assert_eq!(text(&answer.json()["result"]), "5", "{answer:?}");
}

#[tokio::test]
async fn a_session_belongs_to_its_caller_at_each_node() {
    let nodes = nodes_with(|_, server| {
        server
            .token_for("ada", Secret::new("a token of ada's own"))
            .token_for("bob", Secret::new("a token of bob's own"))
    })
    .await;
    let (ada, bob) = ("a token of ada's own", "a token of bob's own");
    let session = nodes.a.open_session_as(ada, "2025-11-25", json!({})).await;
    for node in [&nodes.b, &nodes.a, &nodes.b] {
        for text in [session.ping(), session.get(), session.delete()] {
            let answer = node.send(with(bob, &text)).await;
            assert_eq!(answer.status, 404, "{answer:?}");
        }
        assert_eq!(node.send(with(ada, &session.ping())).await.status, 200);
    }
}

#[tokio::test]
async fn the_log_level_set_at_one_node_counts_at_the_other() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let steps = session.call(1, "steps", json!({}));
    for node in [&nodes.a, &nodes.b] {
        let answer = node.send(&steps).await;
        assert!(answer.body.contains("notifications/message"), "{answer:?}");
    }
    let set =
        |level: &str| session.post(&request(2, "logging/setLevel", json!({ "level": level })));
    assert_eq!(nodes.b.send(set("emergency")).await.json()["result"], json!({}));
    while nodes.a.send(&steps).await.body.contains("notifications/message") {
        tokio::task::yield_now().await;
    }
    // Both nodes change it in turn, and none loses the change of the other.
    for level in ["error", "info", "emergency", "debug"] {
        let answer = nodes.send(set(level)).await;
        assert_eq!(answer.json()["result"], json!({}), "{answer:?}");
    }
    for node in [&nodes.a, &nodes.b] {
        while !node.send(&steps).await.body.contains("notifications/message") {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(nodes.b.send(set("loud")).await.code(), -32602);
}

#[tokio::test]
async fn a_subscription_made_at_one_node_is_served_at_the_other() {
    let nodes = nodes_with_notes().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let mut stream = nodes.a.connect(session.get()).await;
    stream.until(":\n\n").await;
    let uri = json!({ "uri": "shop://notes" });
    let subscribe = session.post(&request(1, "resources/subscribe", uri.clone()));
    assert_eq!(nodes.b.send(subscribe).await.json()["result"], json!({}));
    nodes.b.server.resource_updated("shop://other");
    nodes.b.server.resource_updated("shop://notes");
    let read = stream.until("shop://notes").await;
    assert!(read.contains("notifications/resources/updated"), "{read}");
    assert!(!read.contains("shop://other"), "{read}");
    // After the end of the subscription, the next thing to arrive is the change of a list.
    let unsubscribe = session.post(&request(2, "resources/unsubscribe", uri));
    assert_eq!(nodes.b.send(unsubscribe).await.json()["result"], json!({}));
    nodes.b.server.resource_updated("shop://notes");
    nodes.b.kit.registry.remove("fail").unwrap();
    let read = stream.until("notifications/tools/list_changed").await;
    assert!(!read.contains("shop://notes"), "{read}");
}

#[tokio::test]
async fn each_node_has_room_for_its_own_sessions_and_drops_copies_of_others() {
    let nodes = nodes_with(|_, server| server.limits(|limits| limits.max_sessions = 2)).await;
    let first = nodes.a.open_session("2025-11-25", json!({})).await;
    let second = nodes.a.open_session("2025-11-25", json!({})).await;
    let hello: Value = initialize("2025-11-25", json!({}));
    let hello = http_request("POST", &[], &hello.to_string());
    let full = nodes.a.send(&hello).await;
    assert_eq!((full.status, full.header("retry-after")), (503, Some("1")));
    assert_eq!(nodes.state.keys("mcp_session").await.len(), 2);
    for session in [&first, &second] {
        assert_eq!(nodes.b.send(session.ping()).await.status, 200);
    }
    let third = nodes.b.open_session("2025-11-25", json!({})).await;
    let fourth = nodes.b.open_session("2025-11-25", json!({})).await;
    for session in [&first, &second] {
        let answer = nodes.b.send(session.ping()).await;
        assert_eq!(answer.status, 503, "its own sessions are not dropped: {answer:?}");
    }
    assert_eq!(nodes.b.send(third.delete()).await.status, 204);
    for session in [&first, &second, &first, &fourth] {
        let answer = nodes.b.send(session.ping()).await;
        assert_eq!(answer.status, 200, "copies make room for each other: {answer:?}");
    }
}
