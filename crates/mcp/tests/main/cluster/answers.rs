//! Requests of the server to the client: one node asks, and another receives the answer.

use serde_json::{Value, json};
use test_support_mcp::client::RawConnection;
use toolwright::{ToolError, tool};
use toolwright_mcp::ClientPeer;

use super::nodes::{ClientSession, Node, await_announcements, nodes, nodes_with};

/// Asks the model of the client.
#[tool]
async fn dream(client: ClientPeer) -> Result<String, ToolError> {
    let params = json!({ "messages": [], "maxTokens": 5 });
    Ok(client.create_message("dream", params).await?["model"].to_string())
}

/// Asks for the folders of the client.
#[tool]
async fn look(client: ClientPeer) -> Result<String, ToolError> {
    Ok(client.list_roots("look").await?["roots"].to_string())
}

/// Reads the id of the request that a stream brings, as raw JSON.
pub(super) async fn asked(stream: &mut RawConnection, method: &str) -> String {
    let read = stream.until(&format!(r#""method":"{method}""#)).await;
    let id = read.rsplit(r#""id":"#).next().unwrap();
    id.split([',', '}']).next().unwrap().to_owned()
}

pub(super) fn answer(session: &ClientSession, id: &str, result: &Value) -> String {
    let id: Value = serde_json::from_str(id).unwrap();
    session.post(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Calls `erase`, which asks for approval; returns the stream and the id of the question.
pub(super) async fn call_erase(node: &Node, session: &ClientSession) -> (RawConnection, String) {
    let call = session.call(4, "erase", json!({ "path": "/x" }));
    let mut stream = node.connect(call).await;
    let id = asked(&mut stream, "elicitation/create").await;
    (stream, id)
}

#[tokio::test]
async fn an_answer_reaches_the_node_that_asked() {
    let nodes = nodes_with(|kit, server| {
        kit.registry.add(vec![dream::tool(), look::tool()]).unwrap();
        server
    })
    .await;
    let able = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    for (revision, tool, method, result, expected) in [
        ("2024-11-05", "dream", "sampling/createMessage", json!({ "model": "m-1" }), "m-1"),
        ("2025-03-26", "look", "roots/list", json!({ "roots": ["r-1"] }), "r-1"),
        ("2025-06-18", "erase", "elicitation/create", json!({ "action": "accept" }), "erased /x"),
        ("2025-11-25", "erase", "elicitation/create", json!({ "action": "decline" }), "declined"),
    ] {
        let session = nodes.a.open_session(revision, able.clone()).await;
        for (asking, answering) in [(&nodes.a, &nodes.b), (&nodes.b, &nodes.a)] {
            let arguments = if tool == "erase" { json!({ "path": "/x" }) } else { json!({}) };
            let mut stream = asking.connect(session.call(4, tool, arguments)).await;
            let id = asked(&mut stream, method).await;
            let answered = answering.send(answer(&session, &id, &result)).await;
            assert_eq!(answered.status, 202, "{answered:?}");
            let response = stream.until(r#""id":4"#).await + &stream.until("}}").await;
            assert!(response.contains(expected), "{revision}: {response}");
        }
    }
}

#[tokio::test]
async fn an_error_of_the_client_reaches_the_node_that_asked() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({ "elicitation": {} })).await;
    let (mut stream, id) = call_erase(&nodes.a, &session).await;
    let id: Value = serde_json::from_str(&id).unwrap();
    let error = json!({ "code": -1, "message": "no screen" });
    let refusal = session.post(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    assert_eq!(nodes.b.send(refusal).await.status, 202);
    let response = stream.until(r#""id":4"#).await + &stream.until("}}").await;
    assert!(response.contains("no screen"), "{response}");
}

#[tokio::test]
async fn an_answer_that_no_node_waits_for_is_accepted_and_dropped() {
    let nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({ "elicitation": {} })).await;
    let (mut stream, id) = call_erase(&nodes.a, &session).await;
    let accept = answer(&session, &id, &json!({ "action": "accept" }));
    assert_eq!(nodes.b.send(&accept).await.status, 202);
    stream.until("erased /x").await;
    for node in [&nodes.a, &nodes.b] {
        assert_eq!(node.send(&accept).await.status, 202);
        for id in ["1", r#""1""#, r#""-1""#, r#""not-a-node""#] {
            let unknown = answer(&session, id, &json!({ "action": "accept" }));
            assert_eq!(node.send(unknown).await.status, 202, "{id}");
        }
    }
}

#[tokio::test]
async fn only_the_session_that_was_asked_can_answer() {
    let nodes = nodes().await;
    let able = json!({ "elicitation": {} });
    let asked = nodes.a.open_session("2025-11-25", able.clone()).await;
    let other = nodes.a.open_session("2025-11-25", able).await;
    let (mut stream, id) = call_erase(&nodes.a, &asked).await;
    for node in [&nodes.a, &nodes.b] {
        let forged = answer(&other, &id, &json!({ "action": "accept" }));
        assert_eq!(node.send(forged).await.status, 202);
    }
    let declined = answer(&asked, &id, &json!({ "action": "decline" }));
    assert_eq!(nodes.b.send(declined).await.status, 202);
    let response = stream.until(r#""id":4"#).await + &stream.until("}}").await;
    assert!(response.contains("declined"), "{response}");
}

#[tokio::test]
async fn a_call_is_cancelled_by_a_notification_at_the_other_node() {
    let mut nodes = nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let other = nodes.a.open_session("2025-11-25", json!({})).await;
    let stream = nodes.a.connect(session.call(9, "wait", json!({}))).await;
    assert_eq!(nodes.a.kit.heard.recv().await, Some("started"));
    let cancel = |id: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    // Another request, or the same one of another session, is none of this call's business.
    for text in [session.post(&cancel(json!(8))), other.post(&cancel(json!(9)))] {
        assert_eq!(nodes.b.send(text).await.status, 202);
    }
    await_announcements(&nodes.b, &nodes.a).await;
    assert!(nodes.a.kit.heard.try_recv().is_err(), "it still waits");
    assert_eq!(nodes.b.send(session.post(&cancel(json!(9)))).await.status, 202);
    assert_eq!(nodes.a.kit.heard.recv().await, Some("dropped"));
    let answer = stream.rest().await;
    assert!(!answer.body.contains(r#""id":9"#), "{answer:?}");
}
