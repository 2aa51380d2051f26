//! Clients that mean harm, or do not know better: a clear answer, and a server that is well afterwards.

use std::time::Duration;

use serde_json::json;
use test_support_mcp::client::{
    RawConnection, assert_healthy, http_request, post, request, send, serve, stateless_request,
};
use test_support_mcp::tools::{kit, server};

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let served =
        serve(&server(&kit()).allowed_origins(["https://app.example"]).build().unwrap()).await;
    for (origin, status) in [
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("https://app.example", 200),
        ("http://localhost", 200),
        ("https://localhost", 403),
        ("http://localhost:3000", 403),
    ] {
        let text = stateless_request(1, "tools/list", json!({}));
        let text = text.replacen("\r\n", &format!("\r\nOrigin: {origin}\r\n"), 1);
        assert_eq!(send(served.addr, text).await.status, status, "{origin}");
    }
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn another_host_is_refused() {
    let served = serve(&server(&kit()).allowed_hosts(["tools.example"]).build().unwrap()).await;
    for (host, status) in [
        ("evil.example", 403),
        ("evil.example:80", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("tools.example", 200),
        ("Tools.Example:8080", 200),
        ("[::1]:80", 200),
        ("127.0.0.1:1", 200),
    ] {
        let text = stateless_request(1, "tools/list", json!({}));
        let text = text.replacen("Host: localhost", &format!("Host: {host}"), 1);
        assert_eq!(send(served.addr, text).await.status, status, "{host}");
    }
    let none = stateless_request(1, "tools/list", json!({})).replacen("Host: localhost\r\n", "", 1);
    assert!([400, 403].contains(&send(served.addr, none).await.status));
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_however_it_is_sent() {
    let server = server(&kit()).limits(|limits| limits.max_message_bytes = 1000);
    let served = serve(&server.build().unwrap()).await;
    // Only the length is sent: a server that waited for the body would wait for ever.
    let declared = http_request("POST", &[("Content-Length", "1000000000")], "{");
    assert_eq!(send(served.addr, declared).await.status, 413);
    let chunk = format!("{:x}\r\n{}\r\n", 2000, " ".repeat(2000));
    let chunked = http_request("POST", &[("Transfer-Encoding", "chunked")], &chunk);
    assert_eq!(send(served.addr, chunked).await.status, 413);
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn a_message_that_never_arrives_is_given_up() {
    let server = server(&kit()).limits(|limits| limits.read_timeout = Duration::from_millis(50));
    let served = serve(&server.build().unwrap()).await;
    let half = http_request("POST", &[("Content-Length", "100")], "{\"jsonrpc\"");
    assert_eq!(send(served.addr, half).await.status, 408);
    // Not even the headers end: there is nothing to answer, so the connection is closed.
    let answer = send(served.addr, "POST /mcp HTTP/1.1\r\nHost: loc").await;
    assert!([0, 408].contains(&answer.status), "{answer:?}");
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn half_a_request_and_a_hang_up_leave_nothing_behind() {
    let served =
        serve(&server(&kit()).limits(|limits| limits.max_requests = 1).build().unwrap()).await;
    for _ in 0..3 {
        let mut wire = RawConnection::open(served.addr).await;
        wire.send(http_request("POST", &[("Content-Length", "100")], "{\"jsonrpc\"")).await;
        drop(wire);
    }
    // With room for one request only, one left behind would show; giving it back may take a moment.
    let list = stateless_request(1, "tools/list", json!({}));
    while send(served.addr, &list).await.status == 503 {
        tokio::task::yield_now().await;
    }
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn garbage_is_told_apart() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}1{}}}"#,
        "{\"a\":".repeat(50_000),
        "}".repeat(50_000)
    );
    for (body, code) in [
        ("", -32700),
        ("\0\u{1}garbage", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1", -32700),
        ("42", -32600),
        ("{}", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":7}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
            -32602,
        ),
        (&deep, -32600),
        (&nested, -32600),
    ] {
        let answer = send(served.addr, http_request("POST", &[], body)).await;
        let shown: String = body.chars().take(60).collect();
        assert_eq!((answer.status, answer.code()), (400, code), "{shown}: {answer:?}");
    }
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn a_session_id_that_is_made_up_or_used_up_is_not_found() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let list = request(1, "tools/list", json!({}));
    for id in ["0", "00000000000000000000000000000000", "../../etc/passwd"] {
        let answer = post(served.addr, &[("Mcp-Session-Id", id)], &list).await;
        assert_eq!(answer.status, 404, "{id}");
    }
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn a_version_that_no_session_has_is_refused() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let session =
        test_support_mcp::client::open_session(served.addr, "2025-11-25", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "1999-01-01")];
    let answer = post(served.addr, &headers, &request(1, "ping", json!({}))).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn what_is_not_asked_in_http_is_refused_in_http() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let list = request(1, "tools/list", json!({})).to_string();
    for (text, status) in [
        (http_request("PUT", &[], &list), 405),
        (http_request("GET", &[], ""), 405),
        (http_request("DELETE", &[], ""), 405),
        (http_request("POST", &[("Content-Type", "text/plain")], &list), 415),
        (http_request("POST", &[("Accept", "text/html")], &list), 406),
        (http_request("POST", &[], &list).replacen("/mcp", "/elsewhere", 1), 404),
    ] {
        assert_eq!(send(served.addr, &text).await.status, status, "{text}");
    }
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn more_requests_than_there_is_room_for_are_told_to_come_back() {
    let mut kit = kit();
    let served =
        serve(&server(&kit).limits(|limits| limits.max_requests = 1).build().unwrap()).await;
    let mut wire = RawConnection::open(served.addr).await;
    wire.send(stateless_request(1, "tools/call", json!({ "name": "wait" }))).await;
    assert_eq!(kit.heard.recv().await, Some("started"));
    let answer = send(served.addr, stateless_request(2, "tools/list", json!({}))).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    drop(wire);
    assert_eq!(kit.heard.recv().await, Some("dropped"));
    while send(served.addr, stateless_request(2, "tools/list", json!({}))).await.status == 503 {
        tokio::task::yield_now().await;
    }
    assert_healthy(served.addr).await;
}
