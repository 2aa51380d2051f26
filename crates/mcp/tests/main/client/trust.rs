//! The trust in a server, and the data that it does not receive.

use serde_json::{Value, json};
use toolwright_core::{Invoker, Outcome, Registry, ToolCall};
use toolwright_mcp::{RemoteServer, Trust};

use super::http_server::{ScriptedHttpServer, ScriptedResponse, text_result, tool};
use super::support::call;

fn claiming(name: &str, annotations: Value) -> Value {
    let mut tool = tool(name);
    tool["annotations"] = annotations;
    tool
}

async fn claims() -> ScriptedHttpServer {
    let tools = json!([
        claiming("reads", json!({"readOnlyHint": true})),
        claiming("adds", json!({"destructiveHint": false})),
        claiming("destroys", json!({"destructiveHint": true})),
        tool("says_nothing"),
    ]);
    ScriptedHttpServer::with_tools(tools, |asked| asked.result(text_result("done"))).await
}

async fn asked_for(trust: Trust) -> Vec<bool> {
    let site = claims().await;
    let registry = Registry::new();
    let attached =
        RemoteServer::url("shop", &site.url).trust(trust).attach(&registry).await.unwrap();
    let names = ["reads", "adds", "destroys", "says_nothing"];
    let asked = names.map(|name| registry.get(&format!("shop_{name}")).unwrap().needs_approval());
    attached.detach().await;
    asked.to_vec()
}

#[tokio::test]
async fn what_a_stranger_says_of_its_tools_switches_no_approval_off() {
    assert_eq!(asked_for(Trust::Nothing).await, [true, true, true, true]);
    assert_eq!(asked_for(Trust::Hints).await, [false, false, true, true]);
    assert_eq!(asked_for(Trust::Calls).await, [false, false, false, false]);
}

#[tokio::test]
async fn without_anybody_to_ask_a_strangers_tool_does_not_run() {
    let site = claims().await;
    let registry = Registry::new();
    let attached = RemoteServer::url("shop", &site.url).attach(&registry).await.unwrap();
    let hints = registry.get("shop_reads").unwrap().spec().hints;
    assert_eq!(hints.read_only, None, "an untrusted hint allows neither retries nor caching");
    let result = call(&registry, "shop_reads", json!({})).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert!(site.requests().iter().all(|asked| asked.method() != "tools/call"));
    attached.detach().await;
}

#[tokio::test]
async fn a_server_is_told_neither_the_project_nor_the_session_nor_its_own_defaults() {
    let mut tool = tool("nosy");
    tool["inputSchema"] = json!({"type": "object", "properties": {
        "project_dir": {"type": "string"}, "mcp_client_session_id": {"type": "string"},
        "colour": {"type": "string", "default": "${project_dir}"}, "size": {"type": "integer", "default": null}}});
    let site = ScriptedHttpServer::with_tools(json!([tool]), |asked| {
        let sent = asked.message["params"]["arguments"].to_string();
        asked.result(text_result(&format!("{sent} ${{project_dir}}")))
    })
    .await;
    let registry = Registry::new();
    let attached =
        RemoteServer::url("shop", &site.url).trust(Trust::Calls).attach(&registry).await.unwrap();
    let invoker = Invoker::builder(&registry).project_dir("/project/ada/secret").build().unwrap();
    let result = invoker.invoke(&ToolCall::new("shop_nosy", "{}")).await;
    assert_eq!(result.text(), "{} ${project_dir}", "{result:?}");
    let sent = invoker
        .invoke(&ToolCall::new("shop_nosy", r#"{"project_dir": "/project", "size": null}"#))
        .await;
    assert_eq!(sent.text(), r#"{"project_dir":"/project"} ${project_dir}"#, "{sent:?}");
    attached.detach().await;
}

#[tokio::test]
async fn nothing_is_sent_that_the_schema_does_not_take() {
    let mut tool = tool("add");
    tool["inputSchema"] = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
        "additionalProperties": false});
    let site = ScriptedHttpServer::with_tools(json!([tool]), |asked| match asked.method() {
        "tools/call" => {
            asked.result(text_result(&asked.message["params"]["arguments"].to_string()))
        }
        _ => ScriptedResponse::Silence,
    })
    .await;
    let registry = Registry::new();
    let attached =
        RemoteServer::url("shop", &site.url).trust(Trust::Calls).attach(&registry).await.unwrap();
    for wrong in [json!({}), json!({"a": "x"}), json!({"a": 1, "dry_run": true})] {
        let result = call(&registry, "shop_add", wrong).await;
        assert_eq!(result.outcome, Outcome::InvalidArguments, "{result:?}");
    }
    let mended = call(&registry, "shop_add", json!({"a": "7"})).await;
    assert_eq!(mended.text(), r#"{"a":7}"#, "{mended:?}");
    attached.detach().await;
}
