//! Streams: notifications at whichever node the client is connected to, and responses that are resumed at another node.

use std::time::Duration;

use serde_json::{Value, json};
use test_support_mcp::client::request;
use toolwright::{Progress, tool};

use super::answers::{answer, asked};
use super::nodes::{ClientSession, Nodes, last_event_id, nodes, nodes_with};
use crate::oauth::with;
use crate::scopes::with_scopes;

/// Reports its progress in many words.
#[tool]
fn count(steps: u32, size: usize, progress: Progress) -> &'static str {
    for step in 1..=steps {
        progress.report(step.into(), steps.into(), format!("step {step} {}", "x".repeat(size)));
    }
    "counted"
}

fn call_with_progress(session: &ClientSession, name: &str, arguments: Value) -> String {
    let meta = json!({ "progressToken": 1 });
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    session.post(&request(3, "tools/call", params))
}

/// The numbers of the steps in a stream.
fn steps(body: &str) -> Vec<u32> {
    let words = body.split(r#""message":"step "#).skip(1);
    words.map(|rest| rest.split(' ').next().unwrap().parse().unwrap()).collect()
}

async fn nodes_that_count() -> Nodes {
    nodes_with(|kit, server| {
        kit.registry.add(count::tool()).unwrap();
        server
    })
    .await
}

#[tokio::test]
async fn a_stream_at_one_node_brings_changes_of_the_other() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-06-18", json!({})).await;
    nodes.b.send(session.ping()).await;
    for (here, there) in [(&nodes.a, &nodes.b), (&nodes.b, &nodes.a)] {
        let mut stream = here.connect(session.get()).await;
        stream.until(":\n\n").await;
        there.kit.registry.remove("fail").unwrap();
        let read = stream.until("notifications/tools/list_changed").await;
        assert!(!read.contains("prompts"), "{read}");
    }
}

#[tokio::test]
async fn a_session_has_one_stream_at_all_nodes_together() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-06-18", json!({})).await;
    let other = nodes.a.open_session("2025-06-18", json!({})).await;
    let mut first = nodes.a.connect(session.get()).await;
    first.until(":\n\n").await;
    let mut kept = nodes.a.connect(other.get()).await;
    kept.until(":\n\n").await;
    let mut second = nodes.b.connect(session.get()).await;
    second.until(":\n\n").await;
    assert_eq!(first.rest().await.status, 0, "it has only ended");
    nodes.a.kit.registry.remove("fail").unwrap();
    second.until("notifications/tools/list_changed").await;
    kept.until("notifications/tools/list_changed").await;
}

#[tokio::test]
async fn a_stream_that_has_ended_is_read_again_at_the_other_node() {
    let nodes = nodes_that_count().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    for (steps_sent, size) in [(3_u32, 1), (300, 10), (5, 50_000)] {
        let arguments = json!({ "steps": steps_sent, "size": size });
        let answer = nodes.a.send(call_with_progress(&session, "count", arguments)).await;
        assert_eq!(steps(&answer.body), (1..=steps_sent).collect::<Vec<_>>());
        let ids: Vec<&str> =
            answer.body.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
        for (after, id) in [(0, ids[0]), (2, ids[2])] {
            let resumed = nodes.b.send(session.resume(id)).await;
            assert_eq!(steps(&resumed.body), (after + 1..=steps_sent).collect::<Vec<_>>());
            assert!(resumed.body.contains(r#""text":"counted""#), "{resumed:?}");
            // Its events have the same ids as at the other node.
            assert_eq!(last_event_id(&resumed.body), last_event_id(&answer.body));
        }
        let end = nodes.b.send(session.resume(&last_event_id(&answer.body))).await;
        assert_eq!((end.status, end.body.as_str()), (200, ""), "{end:?}");
    }
}

#[tokio::test]
async fn a_response_that_is_too_large_for_the_bus_is_an_error() {
    let nodes = nodes_that_count().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    // Between the two sizes is the largest message that a bus carries.
    for (size, expected) in [(4 << 20, r#""text":"counted""#), (9 << 20, r#""id":3,"error""#)] {
        let arguments = json!({ "steps": 2, "size": size });
        let answer = nodes.a.send(call_with_progress(&session, "count", arguments)).await;
        let first = answer.body.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
        let resumed = nodes.b.send(session.resume(first)).await;
        let end = resumed.body.len().saturating_sub(200);
        assert!(resumed.body.contains(expected), "{}", &resumed.body[end..]);
    }
}

#[tokio::test]
async fn a_stream_that_goes_on_is_followed_at_the_other_node() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({ "elicitation": {} })).await;
    let call = session.call(4, "erase", json!({ "path": "/x" }));
    let mut stream = nodes.a.connect(call).await;
    let read = stream.until("requestedSchema").await;
    drop(stream);
    let ids: Vec<&str> = read.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    let mut resumed = nodes.b.connect(session.resume(ids[0])).await;
    let id = asked(&mut resumed, "elicitation/create").await;
    let accept = answer(&session, &id, &json!({ "action": "accept" }));
    assert_eq!(nodes.b.send(accept).await.status, 202);
    let response = resumed.until(r#""id":4"#).await + &resumed.until("}}").await;
    assert!(response.contains("erased /x"), "{response}");
    assert_eq!(resumed.rest().await.body, "", "the stream has ended");
}

#[tokio::test]
async fn a_response_that_was_lost_with_its_node_is_an_error() {
    let nodes = nodes_with(|_, server| {
        server.limits(|limits| {
            limits.cluster_timeout = Duration::from_millis(200);
            limits.keep_alive_interval = Duration::from_millis(50);
        })
    })
    .await;
    let session = nodes.a.open_session("2025-11-25", json!({ "elicitation": {} })).await;
    let call = session.call(5, "erase", json!({ "path": "/x" }));
    let mut stream = nodes.a.connect(call).await;
    let first = last_event_id(&stream.until("data: \n\n").await);
    let mut following = nodes.b.connect(session.resume(&first)).await;
    following.until("requestedSchema").await;
    // A node that was killed announces nothing any more, and does not answer.
    nodes.a.bus.set_silent(true);
    nodes.state.forget_node(first.split('-').next().unwrap()).await;
    let lost = following.until("unknown").await;
    assert!(lost.contains(r#""id":5,"error":{"code":-32603"#), "{lost}");
    for _ in 0..2 {
        let resumed = nodes.b.send(session.resume(&first)).await;
        assert!(resumed.body.contains(r#""id":5,"error""#), "{resumed:?}");
    }
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_is_one_of_notifications() {
    let nodes = nodes_that_count().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let other = nodes.a.open_session("2025-11-25", json!({})).await;
    let arguments = json!({ "steps": 2, "size": 1 });
    let answer = nodes.a.send(call_with_progress(&session, "count", arguments)).await;
    let id = last_event_id(&answer.body);
    let mut parts: Vec<&str> = id.split('-').collect();
    let first = format!("{}-{}-0-{}", parts[0], parts[1], parts[3]);
    parts[1] = "77";
    let unknown = parts.join("-");
    // Of another session, of no stream, of no node, and no id at all.
    for text in [
        other.resume(&first),
        session.resume(&unknown),
        session.resume("0-0"),
        session.resume("*-0-0"),
        session.resume("mcp.all-0-0"),
        session.resume("?"),
    ] {
        for node in [&nodes.b, &nodes.a] {
            let mut wire = node.connect(&text).await;
            let began = wire.until(":\n\n").await;
            assert!(!began.contains("data:"), "{began}");
        }
    }
}

#[tokio::test]
async fn a_stream_is_resumed_at_the_other_node_by_who_reaches_as_much() {
    let nodes = nodes_with(with_scopes).await;
    let session = nodes.a.open_session_as("ada.all", "2025-11-25", json!({})).await;
    let call = call_with_progress(&session, "steps", json!({}));
    let answer = nodes.a.send(with("ada.all", &call)).await;
    let first = answer.body.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let resumed = nodes.b.send(with("ada.all", &session.resume(first))).await;
    assert!(resumed.body.contains(r#""text":"done""#), "{resumed:?}");
    for token in ["ada.read", "ada.read.write"] {
        let mut wire = nodes.b.connect(with(token, &session.resume(first))).await;
        let began = wire.until(":\n\n").await;
        assert!(!began.contains("half") && !began.contains("done"), "{began}");
    }
    let of_bob = nodes.b.send(with("bob.read", &session.resume(first))).await;
    assert_eq!(of_bob.status, 404, "{of_bob:?}");
}
