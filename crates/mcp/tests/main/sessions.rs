//! 2024-11-05 to 2025-11-25: a handshake first.

use std::time::Duration;

use serde_json::{Value, json};
use test_support_mcp::client::{
    RawConnection, assert_healthy, http_request, initialize, open_session, post, request, send,
    serve,
};
use test_support_mcp::tools::{kit, server, text};
use toolwright::Secret;
use toolwright_mcp::Revision;

fn call(id: u32, name: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": name, "arguments": arguments }))
}

#[tokio::test]
async fn every_revision_with_sessions_is_spoken_and_any_other_is_answered_with_the_newest() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    for revision in Revision::ALL.into_iter().filter(|it| !it.is_stateless()) {
        let session = open_session(served.addr, revision.as_str(), json!({})).await;
        let answer = post(
            served.addr,
            &[("Mcp-Session-Id", &session), ("MCP-Protocol-Version", revision.as_str())],
            &call(1, "add", json!({ "a": 2, "b": 3 })),
        )
        .await;
        assert_eq!(text(&answer.json()["result"]), "5", "{answer:?}");
    }
    for unknown in ["1999-01-01", "2026-07-28"] {
        let answer = post(served.addr, &[], &initialize(unknown, json!({}))).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
    }
}

#[tokio::test]
async fn outputs_that_are_no_objects_are_wrapped() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let session = open_session(served.addr, "2025-06-18", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let response = post(served.addr, &headers, &call(1, "below", json!({ "n": 2 }))).await.json();
    assert_eq!(response["result"]["structuredContent"], json!({ "result": [0, 1] }));
    let response =
        post(served.addr, &headers, &call(2, "sum", json!({ "numbers": [4] }))).await.json();
    assert_eq!(response["result"]["structuredContent"], json!({ "total": 4 }));
    let old = open_session(served.addr, "2024-11-05", json!({})).await;
    let headers = [("Mcp-Session-Id", old.as_str())];
    let response = post(served.addr, &headers, &call(1, "mixed", json!({}))).await.json();
    let kinds = response["result"]["content"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds.map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "resource", "resource", "text"]);
}

#[tokio::test]
async fn a_tool_knows_its_session() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let response = post(served.addr, &headers, &call(1, "session", json!({}))).await.json();
    assert_eq!(text(&response["result"]), session);
}

#[tokio::test]
async fn a_session_is_needed_and_ends_when_its_client_says_so() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let list = request(1, "tools/list", json!({}));
    assert_eq!(post(served.addr, &[], &list).await.status, 400);
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(post(served.addr, &headers, &list).await.status, 200);
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(served.addr, &headers, &initialized).await.status, 202);
    let ended = send(served.addr, http_request("DELETE", &headers, "")).await;
    assert_eq!(ended.status, 204);
    assert_eq!(post(served.addr, &headers, &list).await.status, 404);
    assert_eq!(send(served.addr, http_request("GET", &headers, "")).await.status, 404);
}

#[tokio::test]
async fn a_session_that_nobody_uses_is_forgotten() {
    let server = server(&kit()).limits(|limits| limits.session_idle_timeout = Duration::ZERO);
    let served = serve(&server.build().unwrap()).await;
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let answer = post(served.addr, &headers, &request(1, "ping", json!({}))).await;
    assert_eq!(answer.status, 404, "{answer:?}");
}

#[tokio::test]
async fn a_session_belongs_to_whoever_opened_it() {
    let server = server(&kit())
        .token_for("ada", Secret::new("a token of ada's own"))
        .token_for("bob", Secret::new("a token of bob's own"));
    let served = serve(&server.build().unwrap()).await;
    let (ada, bob) = ("Bearer a token of ada's own", "Bearer a token of bob's own");
    let hello = initialize("2025-11-25", json!({}));
    let answer = post(served.addr, &[("Authorization", ada)], &hello).await;
    let session = answer.header("Mcp-Session-Id").unwrap();
    let ping = request(1, "ping", json!({}));
    for (who, status) in [(ada, 200), (bob, 404)] {
        let headers = [("Authorization", who), ("Mcp-Session-Id", session)];
        assert_eq!(post(served.addr, &headers, &ping).await.status, status);
    }
}

#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let server = server(&kit()).limits(|limits| limits.max_sessions = 2);
    let served = serve(&server.build().unwrap()).await;
    open_session(served.addr, "2025-11-25", json!({})).await;
    open_session(served.addr, "2025-11-25", json!({})).await;
    let answer = post(served.addr, &[], &initialize("2025-11-25", json!({}))).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
}

#[tokio::test]
async fn a_cancelled_call_reaches_its_tool_and_has_no_answer() {
    let mut kit = kit();
    let served = serve(&server(&kit).build().unwrap()).await;
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let mut wire = RawConnection::open(served.addr).await;
    let waiting = call(9, "wait", json!({})).to_string();
    wire.send(http_request("POST", &headers, &waiting)).await;
    assert_eq!(kit.heard.recv().await, Some("started"));
    let params = json!({ "requestId": 9, "reason": "bored" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(post(served.addr, &headers, &cancel).await.status, 202);
    assert_eq!(kit.heard.recv().await, Some("dropped"));
    let answer = wire.rest().await;
    assert!(!answer.body.contains(r#""id":9"#), "{answer:?}");
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn a_broken_stream_is_read_on_from_where_it_broke() {
    let kit = kit();
    let served = serve(&server(&kit).build().unwrap()).await;
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let params = json!({ "name": "steps", "_meta": { "progressToken": 1 } });
    let steps = request(3, "tools/call", params).to_string();
    let mut wire = RawConnection::open(served.addr).await;
    wire.send(http_request("POST", &headers, &steps)).await;
    let read = wire.until("half").await;
    assert!(read.contains("id: 0-0\n"), "{read}");
    drop(wire);
    let on = [headers[0], ("Last-Event-ID", "0-1")];
    let answer = send(served.addr, http_request("GET", &on, "")).await;
    assert!(!answer.body.contains("half"), "{answer:?}");
    assert!(answer.body.contains(r#""text":"done""#), "{answer:?}");
}

#[tokio::test]
async fn a_standing_stream_hears_of_new_tools_and_a_second_one_replaces_it() {
    let kit = kit();
    let served = serve(&server(&kit).build().unwrap()).await;
    let session = open_session(served.addr, "2025-06-18", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let mut first = RawConnection::open(served.addr).await;
    first.send(http_request("GET", &headers, "")).await;
    first.until(":\n\n").await;
    let mut second = RawConnection::open(served.addr).await;
    second.send(http_request("GET", &headers, "")).await;
    second.until(":\n\n").await;
    assert_eq!(first.rest().await.status, 0, "it has only ended");
    kit.registry.remove("fail").unwrap();
    second.until("notifications/tools/list_changed").await;
}

#[tokio::test]
async fn batches_are_for_the_revision_that_had_them() {
    let served =
        serve(&server(&kit()).limits(|limits| limits.max_batch = 3).build().unwrap()).await;
    let batch = json!([
        request(1, "ping", json!({})),
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        call(2, "add", json!({ "a": 1, "b": 1 })),
    ]);
    let session = open_session(served.addr, "2025-03-26", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let response = post(served.addr, &headers, &batch).await.json();
    assert_eq!((&response[0]["id"], &response[1]["id"]), (&json!(1), &json!(2)));
    assert_eq!(text(&response[1]["result"]), "2");
    let bomb = Value::from(vec![request(1, "ping", json!({})); 4]);
    let answer = post(served.addr, &headers, &bomb).await;
    assert_eq!((answer.status, answer.code()), (400, -32600));
    let newer = open_session(served.addr, "2025-06-18", json!({})).await;
    let answer = post(served.addr, &[("Mcp-Session-Id", &newer)], &batch).await;
    assert_eq!((answer.status, answer.code()), (400, -32600));
}
