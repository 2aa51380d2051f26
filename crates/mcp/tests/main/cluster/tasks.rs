//! Tasks: one node runs the call, and any node answers requests about it.

use serde_json::{Value, json};
use test_support_mcp::client::{http_request, stateless_body};
use test_support_mcp::tools::{Heard, text};
use toolwright::{Secret, State, ToolError, tool};
use toolwright_core::{SharedState as _, subject_key_prefix};
use toolwright_mcp::{ClientPeer, ElicitResponse};

use super::nodes::{Node, Nodes, nodes_with};
use crate::oauth::with;
use crate::scopes::with_scopes;

/// Goes on by itself, for ever.
#[tool]
async fn forever(client: ClientPeer, heard: State<Heard>) -> String {
    client.run_as_task();
    heard.send("started").unwrap();
    std::future::pending().await
}

/// Goes on by itself, and asks for a name.
#[tool]
async fn greet(client: ClientPeer) -> Result<String, ToolError> {
    client.run_as_task();
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    match client.elicit("name", "Who are you?", form).await? {
        ElicitResponse::Accept(form) => Ok(format!("Hello, {}!", form["name"])),
        _ => Err(ToolError::failed("somebody without a name")),
    }
}

const ADA: &str = "a token of ada's own";
const BOB: &str = "a token of bob's own";

async fn nodes() -> Nodes {
    nodes_with(|kit, server| {
        kit.registry.add(vec![forever::tool(), greet::tool()]).unwrap();
        server
            .limits(|limits| limits.cluster_timeout = std::time::Duration::from_millis(200))
            .token_for("ada", Secret::new(ADA))
            .token_for("bob", Secret::new(BOB))
    })
    .await
}

async fn ask(node: &Node, token: &str, method: &str, params: Value) -> Value {
    let able = json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let named = params["taskId"].as_str().or(params["name"].as_str()).unwrap().to_owned();
    let headers =
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", &named)];
    let body = stateless_body(1, method, params, able).to_string();
    node.send(with(token, &http_request("POST", &headers, &body))).await.json()
}

/// Calls a tool that goes on as a task, and returns the parameters of requests about it.
async fn start(node: &Node, tool: &str) -> Value {
    let begun = ask(node, ADA, "tools/call", json!({ "name": tool })).await;
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    json!({ "taskId": begun["result"]["taskId"] })
}

/// Polls a task until it has a status.
async fn poll(node: &Node, task: &Value, status: &str) -> Value {
    loop {
        let response = ask(node, ADA, "tasks/get", task.clone()).await;
        if response["result"]["status"] == status {
            return response["result"].clone();
        }
        assert!(response["result"]["status"].is_string(), "{response}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_task_is_found_and_cancelled_at_the_other_node() {
    let mut nodes = nodes().await;
    let task = start(&nodes.a, "forever").await;
    assert_eq!(nodes.a.kit.heard.recv().await, Some("started"));
    let here = ask(&nodes.a, ADA, "tasks/get", task.clone()).await;
    let there = ask(&nodes.b, ADA, "tasks/get", task.clone()).await;
    assert_eq!(here["result"], there["result"]);
    assert_eq!(there["result"]["status"], "working");
    for node in [&nodes.a, &nodes.b] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let response = ask(node, BOB, method, task.clone()).await;
            assert_eq!(response["error"]["code"], -32602, "{response}");
        }
    }
    let response = ask(&nodes.b, ADA, "tasks/cancel", task.clone()).await;
    assert_eq!(response["result"], json!({ "resultType": "complete" }));
    for node in [&nodes.b, &nodes.a] {
        let response = ask(node, ADA, "tasks/get", task.clone()).await;
        assert_eq!(response["result"]["status"], "cancelled", "{response}");
    }
}

#[tokio::test]
async fn a_task_asks_and_is_answered_at_the_other_node() {
    let nodes = nodes().await;
    let task = start(&nodes.a, "greet").await;
    let asked = poll(&nodes.b, &task, "input_required").await;
    assert_eq!(asked["inputRequests"]["name"]["method"], "elicitation/create", "{asked}");
    let mut update = task.clone();
    update["inputResponses"] =
        json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    let response = ask(&nodes.b, ADA, "tasks/update", update.clone()).await;
    assert_eq!(response["result"], json!({ "resultType": "complete" }));
    let after = ask(&nodes.b, ADA, "tasks/get", task.clone()).await;
    assert_ne!(after["result"]["status"], "input_required", "{after}");
    for node in [&nodes.b, &nodes.a] {
        let done = poll(node, &task, "completed").await;
        assert_eq!(text(&done["result"]), "Hello, \"Ada\"!");
        // What comes later is ignored.
        for method in ["tasks/update", "tasks/cancel"] {
            let response = ask(node, ADA, method, update.clone()).await;
            assert_eq!(response["result"]["resultType"], "complete", "{response}");
        }
        poll(node, &task, "completed").await;
    }
}

#[tokio::test]
async fn the_result_of_a_task_outlives_its_node() {
    let nodes = nodes().await;
    let task = start(&nodes.a, "greet").await;
    let mut update = task.clone();
    update["inputResponses"] = json!({ "name": { "action": "decline" } });
    poll(&nodes.b, &task, "input_required").await;
    ask(&nodes.b, ADA, "tasks/update", update).await;
    poll(&nodes.b, &task, "completed").await;
    let Nodes { a, b, .. } = nodes;
    a.stop().await;
    let done = poll(&b, &task, "completed").await;
    assert_eq!(text(&done["result"]), "somebody without a name", "{done}");
}

#[tokio::test]
async fn a_task_whose_node_has_ended_has_failed() {
    let nodes = nodes().await;
    let (working, asking) = (start(&nodes.a, "forever").await, start(&nodes.a, "greet").await);
    poll(&nodes.b, &asking, "input_required").await;
    // A node that was killed announces nothing any more, and does not answer.
    nodes.a.bus.set_silent(true);
    for key in nodes.state.keys("mcp_node").await {
        nodes.state.forget_node(&key).await;
    }
    for task in [working, asking] {
        for _ in 0..2 {
            let failed = poll(&nodes.b, &task, "failed").await;
            assert_eq!(failed["error"]["code"], -32603, "{failed}");
            assert!(failed.get("inputRequests").is_none(), "{failed}");
        }
        for method in ["tasks/update", "tasks/cancel"] {
            let response = ask(&nodes.b, ADA, method, task.clone()).await;
            assert_eq!(response["result"]["resultType"], "complete", "{response}");
        }
    }
}

#[tokio::test]
async fn a_node_that_ends_cancels_its_tasks_for_all_to_see() {
    let nodes = nodes().await;
    let task = start(&nodes.a, "forever").await;
    let Nodes { a, b, .. } = nodes;
    a.stop().await;
    poll(&b, &task, "cancelled").await;
}

#[tokio::test]
async fn a_task_is_there_at_each_node_for_as_many_scopes_only() {
    let nodes = nodes_with(|kit, server| {
        kit.registry.add(forever::tool()).unwrap();
        with_scopes(kit, server)
    })
    .await;
    let begun = ask(&nodes.a, "ada.all", "tools/call", json!({ "name": "forever" })).await;
    let task = json!({ "taskId": begun["result"]["taskId"] });
    let response = ask(&nodes.b, "ada.all", "tasks/get", task.clone()).await;
    assert_eq!(response["result"]["status"], "working", "{response}");
    for token in ["ada.read", "ada.read.write", "bob.read"] {
        let response = ask(&nodes.b, token, "tasks/get", task.clone()).await;
        assert_eq!(response["error"]["code"], -32602, "{token}: {response}");
    }
}

#[tokio::test]
async fn what_is_stored_of_a_person_is_erased_with_their_other_data() {
    let nodes = nodes().await;
    let task = start(&nodes.a, "forever").await;
    let session = nodes.a.open_session_as(ADA, "2025-11-25", json!({})).await;
    assert_eq!(nodes.state.remove_prefix(&subject_key_prefix(Some("bob"))).await.unwrap(), 0);
    assert_eq!(nodes.state.remove_prefix(&subject_key_prefix(Some("ada"))).await.unwrap(), 2);
    let response = ask(&nodes.b, ADA, "tasks/get", task).await;
    assert_eq!(response["error"]["code"], -32602, "{response}");
    assert_eq!(nodes.b.send(with(ADA, &session.ping())).await.status, 404);
}

#[tokio::test]
async fn an_unknown_task_is_not_looked_for_unless_it_could_exist() {
    let nodes = nodes().await;
    start(&nodes.a, "forever").await;
    let before = nodes.state.operations_of("get mcp_task");
    for id in ["x", "../mcp_session/1", &"0".repeat(33)] {
        let response = ask(&nodes.b, ADA, "tasks/get", json!({ "taskId": id })).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
    }
    assert_eq!(nodes.state.operations_of("get mcp_task"), before);
    let response = ask(&nodes.b, ADA, "tasks/get", json!({ "taskId": "0".repeat(32) })).await;
    assert_eq!(response["error"]["code"], -32602, "{response}");
}

#[tokio::test]
async fn there_are_only_so_many_tasks_at_each_node() {
    let nodes = nodes_with(|kit, server| {
        kit.registry.add(forever::tool()).unwrap();
        server.limits(|limits| limits.max_tasks = 1)
    })
    .await;
    for node in [&nodes.a, &nodes.b] {
        let first = ask(node, ADA, "tools/call", json!({ "name": "forever" })).await;
        assert_eq!(first["result"]["resultType"], "task", "{first}");
        let second = ask(node, ADA, "tools/call", json!({ "name": "forever" })).await;
        assert_eq!(second["error"]["code"], -32603, "{second}");
    }
}
