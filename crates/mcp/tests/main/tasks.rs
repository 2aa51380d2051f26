//! Calls that go on while their clients do something else.

use serde_json::{Value, json};
use test_support_mcp::client::{RunningServer, send, serve, stateless_request_with};
use test_support_mcp::tools::{Heard, kit, server, text};
use toolwright::{Secret, State, tool};
use toolwright_mcp::{ClientPeer, McpServer};

/// Goes on by itself, for ever.
#[tool]
async fn forever(client: ClientPeer, heard: State<Heard>) -> String {
    client.run_as_task();
    heard.send("started").unwrap();
    std::future::pending().await
}

async fn ask(served: &RunningServer, token: &str, method: &str, params: Value) -> Value {
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut text = stateless_request_with(1, method, params.clone(), tasks);
    if let Some(task) = params["taskId"].as_str() {
        text = text.replacen("\r\n", &format!("\r\nMcp-Name: {task}\r\n"), 1);
    }
    let text = text.replacen("\r\n", &format!("\r\nAuthorization: Bearer {token}\r\n"), 1);
    send(served.addr, text).await.json()
}

fn guarded(server: toolwright_mcp::McpServerBuilder) -> McpServer {
    server
        .token_for("ada", Secret::new("a token of ada's own"))
        .token_for("bob", Secret::new("a token of bob's own"))
        .build()
        .unwrap()
}

const ADA: &str = "a token of ada's own";
const BOB: &str = "a token of bob's own";

#[tokio::test]
async fn a_task_is_its_callers_own_and_ends_when_it_is_cancelled() {
    let mut kit = kit();
    kit.registry.add(forever::tool()).unwrap();
    let served = serve(&guarded(server(&kit))).await;
    let begun = ask(&served, ADA, "tools/call", json!({ "name": "forever" })).await;
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    assert_eq!(kit.heard.recv().await, Some("started"));
    let task = json!({ "taskId": begun["result"]["taskId"] });
    let response = ask(&served, ADA, "tasks/get", task.clone()).await;
    assert_eq!(response["result"]["status"], "working", "{response}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let response = ask(&served, BOB, method, task.clone()).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
    }
    let response = ask(&served, ADA, "tasks/cancel", task.clone()).await;
    assert_eq!(response["result"], json!({ "resultType": "complete" }));
    let response = ask(&served, ADA, "tasks/get", task).await;
    assert_eq!(response["result"]["status"], "cancelled", "{response}");
}

#[tokio::test]
async fn a_call_that_is_done_at_once_is_no_task_and_there_are_only_so_many() {
    let kit = kit();
    kit.registry.add(forever::tool()).unwrap();
    let served = serve(&guarded(server(&kit).limits(|limits| limits.max_tasks = 1))).await;
    let params = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
    let response = ask(&served, ADA, "tools/call", params).await;
    assert_eq!(text(&response["result"]), "5");
    let first = ask(&served, ADA, "tools/call", json!({ "name": "forever" })).await;
    assert_eq!(first["result"]["resultType"], "task");
    let second = ask(&served, ADA, "tools/call", json!({ "name": "forever" })).await;
    assert_eq!(second["error"]["code"], -32603, "{second}");
}
