//! Any number of tools, served as a tool that searches and a tool that calls.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support_mcp::client::{
    call, request, send, serve, stateless_request, stateless_request_with,
};
use test_support_mcp::tools::{kit, server, text};
use toolwright::{AuditRecord, Invoker, Tool};
use toolwright_mcp::McpServer;

use crate::oauth::with as with_token;
use crate::scopes::with_scopes;
use crate::stdio::peer;

/// The arguments of `call_tool`.
fn named(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// The names of the tools in the result of a search.
fn found(result: &Value) -> Vec<String> {
    let output: Value = serde_json::from_str(text(result)).unwrap();
    let tools = output["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn listed(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_client_over_stdio_lists_two_tools_searches_and_calls() {
    let kit = kit();
    for number in 0..500 {
        let tool = Tool::builder(format!("file_{number}"), "Files a form.").run(|_, _| "filed");
        kit.registry.add(tool.unwrap()).unwrap();
    }
    let served = server(&kit).tool_search(true).build().unwrap();
    let mut client = peer(&served);
    client.ask(test_support_mcp::client::initialize("2025-11-25", json!({}))).await;
    let tools = client.ask(request(1, "tools/list", json!({}))).await;
    assert_eq!(listed(&tools), ["search_tools", "call_tool"]);
    let search = json!({ "name": "search_tools", "arguments": { "query": "adds two numbers" } });
    let result = client.ask(request(2, "tools/call", search)).await;
    assert_eq!(found(&result["result"])[0], "add");
    let add = json!({ "name": "call_tool", "arguments": named("add", json!({ "a": 2, "b": 3 })) });
    let result = client.ask(request(3, "tools/call", add)).await;
    assert_eq!(text(&result["result"]), "5");
    client.close().await;
}

#[tokio::test]
async fn pinned_tools_are_listed_beside_the_two() {
    let kit = kit();
    let pinned = Tool::builder("clock", "Returns the time.").pinned(true).run(|_, _| "noon");
    kit.registry.add(pinned.unwrap()).unwrap();
    let served = serve(&server(&kit).tool_search(true).build().unwrap()).await;
    let answer = send(served.addr, stateless_request(1, "tools/list", json!({}))).await;
    assert_eq!(listed(&answer.json()), ["search_tools", "call_tool", "clock"]);
}

#[tokio::test]
async fn a_call_is_validated_and_audited_as_one_of_the_tool_it_names() {
    let kit = kit();
    let audited = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&audited);
    let (sender, _heard) = tokio::sync::mpsc::unbounded_channel::<&'static str>();
    let invoker = Invoker::builder(&kit.registry)
        .state(sender)
        .audit(move |record: AuditRecord| sink.lock().unwrap().push(record.tool.to_string()))
        .build()
        .unwrap();
    let served = serve(&McpServer::builder(invoker).tool_search(true).build().unwrap()).await;
    let sum = call(served.addr, "call_tool", named("sum", json!({ "numbers": [1, 2] }))).await;
    assert_eq!(sum["structuredContent"], json!({ "total": 3 }));
    let wrong = call(served.addr, "call_tool", named("add", json!({ "a": "x" }))).await;
    assert_eq!(wrong["isError"], true);
    assert!(text(&wrong).contains("/a"), "{wrong}");
    let malformed = call(served.addr, "call_tool", json!({ "tool": "add" })).await;
    assert_eq!(malformed["isError"], true);
    let unknown = call(served.addr, "call_tool", named("ad", json!({}))).await;
    assert_eq!(unknown["isError"], true);
    assert!(text(&unknown).contains("there is no tool `ad`: search"), "{unknown}");
    assert_eq!(*audited.lock().unwrap(), ["sum", "add", "call_tool", "call_tool"]);
}

#[tokio::test]
async fn the_person_is_asked_about_the_tool_that_is_named() {
    let served = serve(&server(&kit()).tool_search(true).build().unwrap()).await;
    let erase =
        json!({ "name": "call_tool", "arguments": named("erase", json!({ "path": "/x" })) });
    let able = json!({ "elicitation": {} });
    let ask = |params: Value| stateless_request_with(1, "tools/call", params, able.clone());
    let asked = send(served.addr, ask(erase.clone())).await.json();
    let question = &asked["result"]["inputRequests"]["toolwright/approval"];
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("Erases something for good.") && message.contains("/x"), "{message}");
    let mut accepted = erase.clone();
    accepted["requestState"] = asked["result"]["requestState"].clone();
    accepted["inputResponses"] = json!({ "toolwright/approval": { "action": "accept" } });
    let erased = send(served.addr, ask(accepted)).await.json();
    assert_eq!(text(&erased["result"]), "erased /x");
    let unable = send(served.addr, stateless_request(1, "tools/call", erase)).await.json();
    assert!(text(&unable["result"]).contains("denied"), "{unable}");
}

#[tokio::test]
async fn what_no_scope_grants_is_neither_found_nor_called() {
    let kit = kit();
    let scoped = with_scopes(&kit, server(&kit).tool_search(true)).build().unwrap();
    let served = serve(&scoped).await;
    let ask = async |token: &str, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let request = stateless_request(1, "tools/call", params);
        send(served.addr, with_token(token, &request)).await
    };
    let query = json!({ "query": "erases something, writes the files of everybody", "limit": 20 });
    for (token, finds_erase) in [("ada.read", false), ("ada.read.write", true)] {
        let found = found(&ask(token, "search_tools", query.clone()).await.json()["result"]);
        assert_eq!(found.contains(&"erase".to_owned()), finds_erase, "{token}: {found:?}");
        assert!(!found.contains(&"format_disk".to_owned()), "{token}: {found:?}");
    }
    let erase = ask("ada.read", "call_tool", named("erase", json!({ "path": "/x" }))).await;
    assert_eq!(erase.status, 403, "{erase:?}");
    let closed = ask("ada.all", "call_tool", named("format_disk", json!({}))).await.json();
    assert!(text(&closed["result"]).contains("there is no tool `format_disk`"), "{closed}");
}
