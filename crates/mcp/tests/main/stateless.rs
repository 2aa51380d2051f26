//! 2026-07-28: every request stands for itself.

use serde_json::json;
use test_support_mcp::client::{
    RawConnection, assert_healthy, call, http_request, send, serve, stateless_body,
    stateless_request, stateless_request_with,
};
use test_support_mcp::tools::{kit, server, text};
use toolwright::{Prompt, Role, Tool, ToolError};

#[tokio::test]
async fn a_call_is_answered_at_once_as_json() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let params = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
    let answer = send(served.addr, stateless_request(7, "tools/call", params)).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let response = answer.json();
    assert_eq!(response["id"], 7);
    assert_eq!(response["result"]["resultType"], "complete");
    assert_eq!(response["result"]["content"], json!([{ "type": "text", "text": "5" }]));
    assert!(response["result"].get("isError").is_none());
    let info = &response["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "test");
}

#[tokio::test]
async fn headers_repeat_what_the_body_says() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let params = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
    let body = stateless_body(1, "tools/call", params, json!({})).to_string();
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "add"));
    for wrong in [
        vec![method, name],
        vec![("MCP-Protocol-Version", "2025-11-25"), method, name],
        vec![version, name],
        vec![version, ("Mcp-Method", "tools/list"), name],
        vec![version, ("Mcp-Method", "Tools/Call"), name],
        vec![version, method],
        vec![version, method, ("Mcp-Name", "sum")],
        vec![version, method, name, name],
        vec![version, method, ("Mcp-Name", "=?base64?YWRk!?=")],
    ] {
        let answer = send(served.addr, http_request("POST", &wrong, &body)).await;
        assert_eq!((answer.status, answer.code()), (400, -32020), "{wrong:?}");
        assert_eq!(answer.json()["id"], 1);
    }
    let right = [version, method, ("Mcp-Name", "=?base64?YWRk?=")];
    let answer = send(served.addr, http_request("POST", &right, &body)).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_request_says_all_about_itself() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    for params in [
        json!({}),
        json!({ "_meta": {} }),
        json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        let answer = send(served.addr, http_request("POST", &headers, &body.to_string())).await;
        assert_eq!((answer.status, answer.code()), (400, -32602), "{answer:?}");
    }
}

#[tokio::test]
async fn an_unknown_version_is_refused_with_those_that_are_spoken() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let text = stateless_request(1, "tools/list", json!({})).replace("2026-07-28", "2031-01-01");
    let answer = send(served.addr, text).await;
    assert_eq!((answer.status, answer.code()), (400, -32022));
    let data = &answer.json()["error"]["data"];
    assert_eq!(data["requested"], "2031-01-01");
    assert_eq!(data["supported"], json!(["2026-07-28"]));
}

#[tokio::test]
async fn an_unknown_method_is_not_found_and_a_notification_is_accepted() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    for method in ["initialize", "ping", "logging/setLevel", "resources/list", "no/such"] {
        let answer = send(served.addr, stateless_request(1, method, json!({}))).await;
        assert_eq!((answer.status, answer.code()), (404, -32601), "{method}");
    }
    let headers = [("MCP-Protocol-Version", "2026-07-28")];
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/whatever" }).to_string();
    let answer = send(served.addr, http_request("POST", &headers, &notification)).await;
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol_and_bad_arguments_are_a_result() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let answer =
        send(served.addr, stateless_request(1, "tools/call", json!({ "name": "ad_d" }))).await;
    assert_eq!(answer.code(), -32602, "{answer:?}");
    let result = call(served.addr, "add", json!({ "a": "two" })).await;
    assert_eq!(result["isError"], true);
    let result = call(served.addr, "fail", json!({})).await;
    assert_eq!((&result["isError"], text(&result)), (&json!(true), "out of paper"));
}

#[tokio::test]
async fn structured_content_may_be_of_any_type() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let result = call(served.addr, "below", json!({ "n": 3 })).await;
    assert_eq!(result["structuredContent"], json!([0, 1, 2]));
    let result = call(served.addr, "sum", json!({ "numbers": [1, 2] })).await;
    assert_eq!(result["structuredContent"], json!({ "total": 3 }));
}

#[tokio::test]
async fn progress_and_log_messages_come_only_where_they_were_asked_for() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let quiet = stateless_request(1, "tools/call", json!({ "name": "steps" }));
    let answer = send(served.addr, quiet).await;
    assert_eq!(text(&answer.json()["result"]), "done");
    let meta = json!({ "progressToken": "p", "io.modelcontextprotocol/logLevel": "warning" });
    let asked = stateless_request(1, "tools/call", json!({ "name": "steps", "_meta": meta }));
    let answer = send(served.addr, asked).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    let events: Vec<serde_json::Value> = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let methods: Vec<_> = events.iter().map(|it| it["method"].as_str().unwrap_or("-")).collect();
    let expected =
        ["notifications/progress", "notifications/message", "notifications/progress", "-"];
    assert_eq!(methods, expected);
    let params = json!({ "progress": 1.0, "total": 2.0, "message": "half", "progressToken": "p" });
    assert_eq!(events[0]["params"], params);
    let loud = stateless_request(
        1,
        "tools/call",
        json!({ "name": "steps", "_meta": { "io.modelcontextprotocol/logLevel": "loud" } }),
    );
    assert_eq!(send(served.addr, loud).await.code(), -32602);
}

#[tokio::test]
async fn closing_the_connection_cancels_the_call() {
    let mut kit = kit();
    let served = serve(&server(&kit).build().unwrap()).await;
    for meta in [json!({}), json!({ "io.modelcontextprotocol/logLevel": "error" })] {
        let mut wire = RawConnection::open(served.addr).await;
        wire.send(stateless_request(1, "tools/call", json!({ "name": "wait", "_meta": meta })))
            .await;
        assert_eq!(kit.heard.recv().await, Some("started"));
        drop(wire);
        assert_eq!(kit.heard.recv().await, Some("dropped"));
    }
    assert_healthy(served.addr).await;
}

#[tokio::test]
async fn a_subscription_hears_what_it_asked_for() {
    let kit = kit();
    let served = serve(&server(&kit).build().unwrap()).await;
    let mut wire = RawConnection::open(served.addr).await;
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    wire.send(stateless_request(5, "subscriptions/listen", filter)).await;
    let first = wire.until("}\n\n").await;
    assert!(first.contains("notifications/subscriptions/acknowledged"), "{first}");
    let mut prompts = RawConnection::open(served.addr).await;
    let filter = json!({ "notifications": { "promptsListChanged": true } });
    prompts.send(stateless_request(6, "subscriptions/listen", filter)).await;
    prompts.until("}\n\n").await;
    kit.registry.remove("fail").unwrap();
    let second = wire.until("}\n\n").await;
    assert!(second.contains("notifications/tools/list_changed"), "{second}");
    assert!(second.contains(r#""io.modelcontextprotocol/subscriptionId":5"#), "{second}");
    // A notification of the tool for the other client would have come before this.
    let ask = Tool::builder("ask", "Asks.").run(|_, _| Ok::<_, ToolError>("What is there?"));
    kit.registry.add(Prompt::from_tool(ask.unwrap(), Role::User)).unwrap();
    let third = prompts.until("}\n\n").await;
    assert!(third.contains("notifications/prompts/list_changed"), "{third}");
    assert!(!third.contains("tools/list_changed"), "{third}");
}

#[tokio::test]
async fn a_server_that_ends_ends_its_subscriptions_politely() {
    let kit = kit();
    let mut served = serve(&server(&kit).build().unwrap()).await;
    let mut wire = RawConnection::open(served.addr).await;
    wire.send(stateless_request(5, "subscriptions/listen", json!({ "notifications": {} }))).await;
    wire.until("acknowledged").await;
    served.end.take().unwrap().send(()).unwrap();
    let last = wire.until(r#""resultType":"complete""#).await;
    assert!(last.contains(r#""id":5"#), "{last}");
    served.running.take().unwrap().await.unwrap();
}

#[tokio::test]
async fn discovery_says_who_is_there() {
    let kit = kit();
    let served = serve(&server(&kit).instructions("Count.").build().unwrap()).await;
    let response =
        send(served.addr, stateless_request_with(1, "server/discover", json!({}), json!({})))
            .await
            .json();
    let result = &response["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"]["tools"], json!({ "listChanged": true }));
    assert_eq!(result["instructions"], "Count.");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!("public")));
}
