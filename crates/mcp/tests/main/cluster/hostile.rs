//! Clients that mean harm to a cluster.

use futures::future::join_all;
use serde_json::{Value, json};
use test_support_mcp::client::{assert_healthy, request};
use toolwright_mcp::ServedResource;

use super::answers::{answer, call_erase};
use super::nodes::{ClientSession, nodes, nodes_with};

#[tokio::test]
async fn made_up_sessions_leave_nothing_behind() {
    let nodes = nodes_with(|_, server| server.limits(|limits| limits.max_sessions = 2)).await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let made_up = |id: String| ClientSession { id };
    let floods = (0..100).map(|number| {
        let nodes = &nodes;
        async move { nodes.b.send(made_up(format!("{number:032x}")).ping()).await.status }
    });
    assert!(join_all(floods).await.into_iter().all(|status| status == 404));
    let asked = nodes.state.operations_of("get mcp_session");
    for id in ["../../x", "%2e", "x y", &"f".repeat(31), &"f".repeat(4000), "ünïcode"] {
        let answer = nodes.b.send(made_up(id.to_owned()).ping()).await;
        assert!([400, 404].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(nodes.state.operations_of("get mcp_session"), asked, "these cannot exist");
    assert_eq!(nodes.b.send(session.ping()).await.status, 200);
    assert_healthy(nodes.b.served.addr).await;
}

#[tokio::test]
async fn answers_to_nodes_that_do_not_exist_are_dropped() {
    let nodes = nodes_with(|_, server| {
        server.limits(|limits| limits.cluster_timeout = std::time::Duration::from_millis(200))
    })
    .await;
    let session = nodes.a.open_session("2025-11-25", json!({ "elicitation": {} })).await;
    let (mut stream, id) = call_erase(&nodes.a, &session).await;
    let number = id.trim_matches('"').split_once('-').unwrap().1;
    let floods = (0..100).map(|node| {
        let forged = format!("\"{node:016x}-{number}\"");
        let forged = answer(&session, &forged, &json!({ "action": "accept" }));
        let nodes = &nodes;
        async move { nodes.b.send(forged).await.status }
    });
    assert!(join_all(floods).await.into_iter().all(|status| status == 202));
    let decline = answer(&session, &id, &json!({ "action": "decline" }));
    assert_eq!(nodes.b.send(decline).await.status, 202);
    let response = stream.until(r#""id":4"#).await + &stream.until("}}").await;
    assert!(response.contains("declined"), "{response}");
    assert_healthy(nodes.b.served.addr).await;
}

#[tokio::test]
async fn a_session_subscribes_to_so_much_and_no_more() {
    let nodes = nodes_with(|_, server| {
        let resource = ServedResource::new("notes://{day}", day::tool());
        server.resource(resource)
    })
    .await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let subscribe = |number: usize| {
        let uri = format!("notes://{number}{}", "x".repeat(60_000));
        session.post(&request(1, "resources/subscribe", json!({ "uri": uri })))
    };
    let mut accepted = 0;
    for number in 0..10 {
        let answer = nodes.send(subscribe(number)).await.json();
        accepted += usize::from(answer["result"] == json!({}));
        if answer["result"].is_null() {
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    }
    assert_eq!(accepted, 4);
    // The other nodes read a record of this size themselves.
    let mut stream = nodes.a.connect(session.get()).await;
    stream.until(":\n\n").await;
    let uri = format!("notes://3{}", "x".repeat(60_000));
    nodes.b.server.resource_updated(&uri);
    stream.until("notifications/resources/updated").await;
}

/// What was written on a day.
#[toolwright::tool(read_only)]
fn day(day: String) -> String {
    day
}

#[tokio::test]
async fn a_request_id_that_is_too_large_is_not_sent_around() {
    let mut nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let large = Value::from("x".repeat(100_000));
    let call = json!({ "jsonrpc": "2.0", "id": large, "method": "tools/call", "params": { "name": "wait" } });
    let stream = nodes.a.connect(session.post(&call)).await;
    assert_eq!(nodes.a.kit.heard.recv().await, Some("started"));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": large } });
    assert_eq!(nodes.b.send(session.post(&cancel)).await.status, 202);
    super::nodes::await_announcements(&nodes.b, &nodes.a).await;
    assert!(nodes.a.kit.heard.try_recv().is_err(), "it still waits");
    assert_eq!(nodes.a.send(session.post(&cancel)).await.status, 202);
    assert_eq!(nodes.a.kit.heard.recv().await, Some("dropped"));
    drop(stream);
}
