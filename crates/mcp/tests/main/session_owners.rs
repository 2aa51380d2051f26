//! What belongs to whom where requests follow each other: sessions, streams and tasks.

use std::time::{Duration, SystemTime};

use serde_json::json;
use test_support_mcp::client::{
    RawConnection, http_request, initialize, post, request, send, serve, stateless_request,
    stateless_request_with,
};
use test_support_mcp::tools::{kit, server, text};
use toolwright::{Secret, tool};
use toolwright_mcp::{Claims, ClientPeer, ResourceServer};

use crate::oauth::{HERE, ISSUER, with};
use crate::scopes::scoped;

/// Goes on by itself, for ever.
#[tool]
async fn later(client: ClientPeer) -> String {
    client.run_as_task();
    std::future::pending().await
}

#[tokio::test]
async fn a_session_belongs_to_whoever_opened_it_and_scopes_to_each_request() {
    let kit = kit();
    let served = serve(&scoped(&kit)).await;
    let hello = initialize("2025-11-25", json!({}));
    let opened = post(served.addr, &[("Authorization", "Bearer ada.read")], &hello).await;
    let session = opened.header("Mcp-Session-Id").unwrap();
    let call = |name: &str| {
        request(1, "tools/call", json!({ "name": name, "arguments": { "a": 1, "b": 2 } }))
    };
    for (token, name, status) in [
        ("ada.read", "add", 200),
        ("ada.read", "fail", 403),
        ("ada.read.write", "fail", 200),
        ("bob.read", "add", 404),
        ("ada", "add", 403),
    ] {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", &*bearer), ("Mcp-Session-Id", session)];
        let answer = post(served.addr, &headers, &call(name)).await;
        assert_eq!(answer.status, status, "{token} {name}: {answer:?}");
    }
    let of_bob = [("Authorization", "Bearer bob.read"), ("Mcp-Session-Id", session)];
    for method in ["GET", "DELETE"] {
        assert_eq!(send(served.addr, http_request(method, &of_bob, "")).await.status, 404);
    }
    let of_ada = [("Authorization", "Bearer ada.read"), ("Mcp-Session-Id", session)];
    assert_eq!(send(served.addr, http_request("DELETE", &of_ada, "")).await.status, 204);
}

#[tokio::test]
async fn a_task_is_there_for_who_began_it_with_as_many_scopes() {
    let kit = kit();
    kit.registry.add(later::tool()).unwrap();
    let served = serve(&scoped(&kit)).await;
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let ask = |token, text: String| send(served.addr, with(token, &text));
    let call = stateless_request_with(1, "tools/call", json!({ "name": "later" }), tasks.clone());
    let begun = ask("ada.all", call).await.json();
    let task = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}"));
    let get = || {
        let body = test_support_mcp::client::stateless_body(
            2,
            "tasks/get",
            json!({ "taskId": task }),
            tasks.clone(),
        );
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tasks/get"),
            ("Mcp-Name", task),
        ];
        http_request("POST", &headers, &body.to_string())
    };
    assert_eq!(ask("ada.all", get()).await.json()["result"]["status"], "working");
    for token in ["ada.read", "bob.read"] {
        assert_eq!(ask(token, get()).await.code(), -32602, "{token}");
    }
}

#[tokio::test]
async fn who_listens_is_told_to_come_back_when_the_token_ends() {
    let verifier = async |_: Secret| {
        let soon = SystemTime::now() + Duration::from_millis(200);
        Ok(Claims::new("ada", [HERE]).expires(soon))
    };
    let oauth =
        ResourceServer::new(HERE, verifier).authorization_server(ISSUER).clock_skew(Duration::ZERO);
    let served = serve(&server(&kit()).oauth(oauth).build().unwrap()).await;
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let mut wire = RawConnection::open(served.addr).await;
    wire.send(with("any", &stateless_request(7, "subscriptions/listen", listen))).await;
    wire.until("acknowledged").await;
    wire.until(r#""resultType":"complete""#).await;
}

#[tokio::test]
async fn in_a_batch_each_message_is_answered_by_its_own_scopes() {
    let kit = kit();
    let served = serve(&scoped(&kit)).await;
    let bearer = ("Authorization", "Bearer ada.read");
    let opened = post(served.addr, &[bearer], &initialize("2025-03-26", json!({}))).await;
    let session = opened.header("Mcp-Session-Id").unwrap();
    let call = |id, name: &str| {
        request(id, "tools/call", json!({ "name": name, "arguments": { "a": 1, "b": 2 } }))
    };
    let batch = json!([call(1, "add"), call(2, "fail")]);
    let answer = post(served.addr, &[bearer, ("Mcp-Session-Id", session)], &batch).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let response = answer.json();
    assert_eq!(text(&response[0]["result"]), "3");
    assert_eq!(response[1]["error"]["data"]["requiredScopes"][0], "write");
}

#[tokio::test]
async fn a_broken_stream_is_read_on_by_who_reaches_as_much() {
    let kit = kit();
    let served = serve(&scoped(&kit)).await;
    let all = ("Authorization", "Bearer ada.all");
    let opened = post(served.addr, &[all], &initialize("2025-11-25", json!({}))).await;
    let session = ("Mcp-Session-Id", opened.header("Mcp-Session-Id").unwrap());
    let params = json!({ "name": "steps", "_meta": { "progressToken": 1 } });
    let steps = request(3, "tools/call", params);
    let answer = post(served.addr, &[all, session], &steps).await;
    assert!(answer.body.contains("id: 0-0\n"), "{answer:?}");
    let last = ("Last-Event-ID", "0-0");
    let answer = send(served.addr, http_request("GET", &[all, session, last], "")).await;
    assert!(answer.body.contains(r#""text":"done""#), "{answer:?}");
    // With less, it is as if nothing had been kept: the stream of changes begins.
    let mut wire = RawConnection::open(served.addr).await;
    let read = ("Authorization", "Bearer ada.read");
    wire.send(http_request("GET", &[read, session, last], "")).await;
    let began = wire.until(":\n\n").await;
    assert!(!began.contains("half") && !began.contains("done"), "{began}");
}
