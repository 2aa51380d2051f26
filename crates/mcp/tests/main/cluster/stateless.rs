//! 2026-07-28: requests stand for themselves, and what they bring along counts at each node.

use futures::future::join;
use serde_json::{Value, json};
use test_support_mcp::client::{stateless_request, stateless_request_with};
use test_support_mcp::tools::text;

use super::nodes::nodes;

fn erase(path: &str) -> Value {
    json!({ "name": "erase", "arguments": { "path": path } })
}

fn call(params: Value) -> String {
    stateless_request_with(1, "tools/call", params, json!({ "elicitation": {} }))
}

fn accepted(path: &str, state: &Value) -> String {
    let mut params = erase(path);
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({ "toolwright/approval": { "action": "accept" } });
    call(params)
}

#[tokio::test]
async fn requests_are_answered_by_nodes_that_take_turns() {
    let nodes = nodes().await;
    for round in 0..4 {
        let params = json!({ "name": "add", "arguments": { "a": 2, "b": round } });
        let answer = nodes.send(stateless_request(1, "tools/call", params)).await;
        assert_eq!(text(&answer.json()["result"]), (2 + round).to_string(), "{answer:?}");
    }
}

#[tokio::test]
async fn a_round_that_one_node_began_is_finished_at_the_other() {
    let nodes = nodes().await;
    for (asking, answering) in [(&nodes.a, &nodes.b), (&nodes.b, &nodes.a)] {
        let response = asking.send(call(erase("/x"))).await.json();
        assert_eq!(response["result"]["resultType"], "input_required", "{response}");
        let state = &response["result"]["requestState"];
        let moved = answering.send(accepted("/", state)).await;
        assert_eq!(moved.code(), -32602, "for another call: {moved:?}");
        let erased = answering.send(accepted("/x", state)).await.json();
        assert_eq!(text(&erased["result"]), "erased /x", "{erased}");
        for node in [asking, answering] {
            let again = node.send(accepted("/x", state)).await.json();
            assert!(text(&again["result"]).contains("used before"), "{again}");
        }
    }
}

#[tokio::test]
async fn an_approval_that_both_nodes_receive_at_once_is_used_once() {
    let nodes = nodes().await;
    // The variable of `tests/cluster/races.rs`; in one process, more races take no longer.
    let races = std::env::var("TEST_CLUSTER_RACES").ok();
    for round in 0..races.map_or(200, |races| races.parse().unwrap()) {
        let path = format!("/{round}");
        let response = nodes.send(call(erase(&path))).await.json();
        let accepted = accepted(&path, &response["result"]["requestState"]);
        let (a, b) = join(nodes.a.send(&accepted), nodes.b.send(&accepted)).await;
        let (a, b) = (a.json(), b.json());
        let texts = [text(&a["result"]), text(&b["result"])];
        let erased = format!("erased {path}");
        assert_eq!(texts.iter().filter(|it| **it == erased).count(), 1, "{texts:?}");
        assert_eq!(texts.iter().filter(|it| it.contains("used before")).count(), 1, "{texts:?}");
    }
}

#[tokio::test]
async fn a_subscription_at_one_node_brings_changes_of_the_other() {
    let nodes = super::sessions::nodes_with_notes().await;
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["shop://notes"] });
    let listen = json!({ "notifications": filter });
    let mut wire = nodes.a.connect(stateless_request(5, "subscriptions/listen", listen)).await;
    wire.until("acknowledged").await;
    // B has served nothing yet, and has changes to announce all the same.
    nodes.b.server.resource_updated("shop://notes");
    let read = wire.until("notifications/resources/updated").await + &wire.until("\n\n").await;
    assert!(read.contains(r#""io.modelcontextprotocol/subscriptionId":5"#), "{read}");
    // It watches its tools from its first request on.
    nodes.b.open_session("2025-11-25", json!({})).await;
    nodes.b.kit.registry.remove("fail").unwrap();
    wire.until("notifications/tools/list_changed").await;
}
