//! The routes that exist once: info, tools, prompts, conversations, health.

use std::sync::Arc;

use serde_json::json;
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright::{Invoker, Registry, Tool, ToolError, prompt};
use toolwright_server::{Mount, ServerBuilder};

use crate::approvals::{Payments, payment_tool};
use crate::support::{find_event, invoker, joined_text, no_tools, serve, serve_built};

#[tokio::test]
async fn a_server_shows_its_name_and_model() {
    let server = ServerBuilder::new(no_tools(), FnModel::echo())
        .name("shop", "1.2.3")
        .model_reason("it is the only one")
        .warnings(|| vec!["the till is hidden".to_owned()])
        .models(["one", "two"], |_| Ok(Arc::new(FnModel::new(|_| "Two."))));
    let server = serve(server).await;
    let info = server.get("/api/info").await.json();
    assert_eq!(info["name"], "shop");
    assert_eq!(info["model"]["why"], "it is the only one");
    assert_eq!(info["models"], json!(["one", "two"]));
    assert_eq!(info["store"], "memory");
    assert_eq!(info["warnings"], json!(["the till is hidden"]));
    assert!(info["dialects"].as_array().unwrap().len() > 10);
    let path = "/api/conversations/c";
    let chosen = json!({ "text": "Hi", "model": "two" });
    let after = server.post(&format!("{path}/prompt"), chosen).await.json()["seq"].as_u64();
    let events = server.events(path, after).await.collect_turn().await;
    assert_eq!(joined_text(&events), "Two.");
    let unknown = json!({ "text": "Hi", "model": "three" });
    let refused = server.post(&format!("{path}/prompt"), unknown).await;
    assert_eq!(refused.status, 400);
}

#[tokio::test]
async fn tools_are_listed_lowered_and_tried_and_approval_is_honoured() {
    let paid = Payments::default();
    let server = serve(ServerBuilder::new(invoker(payment_tool(&paid)), FnModel::echo())).await;
    let tools = server.get("/api/tools").await.json();
    assert_eq!(tools[0]["name"], "pay");
    assert_eq!(tools[0]["approval"], true);
    assert_eq!(tools[0]["parameters"]["properties"]["euros"]["type"], "integer");
    let lowered = server.get("/api/tools/pay/lowered?for=openai-strict").await.json();
    assert_eq!(lowered["schema"]["additionalProperties"], false);
    assert!(lowered["losses"].is_array());
    assert_eq!(server.get("/api/tools/pay/lowered?for=klingon").await.status, 400);
    assert_eq!(server.get("/api/tools/nobody/lowered?for=openai").await.status, 404);
    let arguments = json!({ "arguments": { "euros": 7 } });
    let refused = server.post("/api/tools/pay", arguments).await;
    assert_eq!((refused.status, refused.json()["error"]["kind"].clone()), (409, json!("approval")));
    assert!(paid.lock().unwrap().is_empty());
    let confirmed = json!({ "arguments": { "euros": 7 }, "confirmed": true });
    let result = server.post("/api/tools/pay", confirmed).await.json();
    assert_eq!(
        (&result["outcome"], &result["content"][0]["text"]),
        (&json!("ok"), &json!("paid 7"))
    );
    let wrong = json!({ "arguments": { "euros": "many" }, "confirmed": true });
    let result = server.post("/api/tools/pay", wrong).await.json();
    assert_eq!(result["outcome"], "invalid_arguments");
    assert_eq!(*paid.lock().unwrap(), [7]);
    assert_eq!(server.post("/api/tools/nobody", json!({})).await.status, 404);
}

#[tokio::test]
async fn tools_are_ranked_by_a_question_with_their_scores() {
    let tool = |name: &str, description: &str| {
        Tool::builder(name, description).run(|_, _| Ok::<_, ToolError>("done")).unwrap()
    };
    let tools = vec![
        tool("create_ticket", "Opens a support ticket."),
        tool("get_weather", "Returns the weather in a city."),
        tool("list_cities", "Lists the cities that have a name."),
    ];
    let server = serve(ServerBuilder::new(invoker(tools), FnModel::echo())).await;
    let found =
        server.get("/api/tools?search=How%20is%20the%20wether%20in%20a%20city").await.json();
    let names: Vec<_> = found.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["get_weather", "list_cities"]);
    let scores: Vec<_> = [0, 1].map(|at| found[at]["score"].as_f64().unwrap()).into();
    assert!(scores[0] > scores[1] && scores[1] > 0.0, "{scores:?}");
    assert_eq!(found[0]["parameters"]["type"], "object", "all else is as in the list");
    let best = server.get("/api/tools?search=city&limit=1").await.json();
    assert_eq!(best.as_array().unwrap().len(), 1);
    let all = server.get("/api/tools?search=%20&limit=1").await.json();
    assert_eq!(all.as_array().unwrap().len(), 3, "no question lists all tools");
    assert!(all[0].get("score").is_none());
    assert_eq!(server.get("/api/tools?search=zebra").await.json(), json!([]));
}

#[tokio::test]
async fn a_search_for_too_many_tools_or_by_a_book_is_rejected() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    for query in ["limit=0", "limit=101", "limit=many", "limit=-1"] {
        let rejected = server.get(&format!("/api/tools?search=city&{query}")).await;
        assert_eq!(rejected.status, 400, "{query}");
    }
    let book = "a".repeat(2_001);
    let rejected = server.get(&format!("/api/tools?search={book}")).await;
    assert_eq!(
        (rejected.status, rejected.json()["error"]["kind"].clone()),
        (400, json!("invalid"))
    );
}

/// Asks for a translation.
#[prompt(role = user)]
fn translate(text: String) -> &'static str {
    "Translate: ${text}"
}

#[tokio::test]
async fn prompts_are_listed_rendered_and_sent() {
    let registry = Registry::new();
    registry.add(translate::prompt()).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    let server = serve(ServerBuilder::new(invoker, FnModel::echo())).await;
    let prompts = server.get("/api/prompts").await.json();
    assert_eq!((&prompts[0]["name"], &prompts[0]["role"]), (&json!("translate"), &json!("user")));
    let filled = json!({ "arguments": { "text": "Tag" } });
    let filled = server.post("/api/prompts/translate", filled).await.json();
    assert_eq!(filled["messages"][0]["text"], "Translate: Tag");
    assert_eq!(server.post("/api/prompts/translate", json!({})).await.status, 422);
    assert_eq!(server.post("/api/prompts/nobody", json!({})).await.status, 404);
    let path = "/api/conversations/c";
    let named = json!({ "prompt": { "name": "translate", "arguments": { "text": "Tag" } } });
    let after = server.post(&format!("{path}/prompt"), named).await.json()["seq"].as_u64();
    let events = server.events(path, after).await.collect_turn().await;
    assert_eq!(find_event(&events, "said")["role"], "user");
    assert_eq!(joined_text(&events), "Translate: Tag");
    for (wrong, status) in [
        (json!({}), 400),
        (json!({ "text": " " }), 400),
        (json!({ "prompt": { "name": "translate" } }), 422),
    ] {
        let refused = server.post(&format!("{path}/prompt"), wrong).await;
        assert_eq!(refused.status, status, "{refused:?}");
    }
}

#[tokio::test]
async fn conversations_are_listed_exported_and_deleted() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    assert_eq!(server.get("/api/conversations").await.json(), json!([]));
    server.post_and_collect("/api/conversations/a%20b", "What is new?").await;
    let listed = server.get("/api/conversations").await.json();
    assert_eq!((&listed[0]["id"], &listed[0]["title"]), (&json!("a b"), &json!("What is new?")));
    let exported = server.get("/api/conversations/a%20b/export").await;
    let lines: Vec<&str> = exported.text().lines().collect();
    assert_eq!(lines[0], r#"{"toolwright":"journal","version":1,"conversation":"a b"}"#);
    assert_eq!(lines.len(), 4);
    let mut events = server.events("/api/conversations/a%20b", None).await;
    events.read_until("snapshot").await;
    assert_eq!(server.delete("/api/conversations/a%20b").await.status, 204);
    // A subscriber receives an empty snapshot.
    assert_eq!(events.read_until("snapshot").await["event"]["entries"], json!([]));
    assert_eq!(server.delete("/api/conversations/a%20b").await.status, 404);
    assert_eq!(server.get("/api/conversations/a%20b/export").await.status, 404);
    let shown = server.get("/api/conversations/a%20b").await.json();
    assert_eq!(shown["entries"], json!([]));
}

#[tokio::test]
async fn health_and_metrics_are_for_machines() {
    let paid = Payments::default();
    let model = ScriptedModel::new().replies("Hello.");
    let server = serve(ServerBuilder::new(invoker(payment_tool(&paid)), model)).await;
    assert_eq!(server.get("/healthz").await.text(), "ok\n");
    assert_eq!(server.get("/readyz").await.text(), "ready\n");
    server.post_and_collect("/api/conversations/a", "Hi").await;
    let confirmed = json!({ "arguments": { "euros": 7 }, "confirmed": true });
    server.post("/api/tools/pay", confirmed).await;
    let metrics = server.get("/metrics").await;
    for line in [
        "toolwright_turns_total{end=\"answered\"} 1",
        "toolwright_calls_total{outcome=\"ok\"} 1",
        "toolwright_tokens_total{direction=\"in\"} 10",
        "toolwright_turn_seconds_count 1",
        "toolwright_rooms 1",
    ] {
        assert!(metrics.text().lines().any(|it| it == line), "{line}\n{}", metrics.text());
    }
}

#[tokio::test]
async fn the_console_is_served_with_a_policy_and_not_sent_twice() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    let page = server.get("/").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    let request = server.request("GET", "/").header("if-none-match", page.header("etag"));
    let again = server.send(request, "").await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let without = ServerBuilder::new(no_tools(), FnModel::echo()).mount(Mount::api());
    let without = serve_built(without.build().unwrap()).await;
    assert_eq!(without.get("/").await.status, 404);
}

#[tokio::test]
async fn tools_are_served_over_mcp_beside_it() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let request = server
        .request("POST", "/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let answer = server.send(request, &ping.to_string()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.text().contains("serverInfo"));
}
