//! Tools that call tools, without a chat.

use serde_json::json;
use toolwright::{
    ApprovalPolicy, CallScope, Caller, Invoker, Outcome, Registry, Tool, ToolCall, ToolCaller, tool,
};

/// Returns the name of the caller.
#[tool(read_only)]
fn who(caller: Caller) -> String {
    caller.name().unwrap_or("nobody").to_owned()
}

/// Calls a tool.
#[tool]
async fn forward(name: String, tools: ToolCaller) -> String {
    let result = tools.call(name, json!({})).await;
    format!("{}: {}", result.outcome, result.text())
}

/// Calls itself.
#[tool]
async fn recurse(tools: ToolCaller) -> String {
    let result = tools.call("recurse", json!({})).await;
    format!("{} {}", result.call_id.as_str().matches('.').count(), result.text())
}

async fn run(name: &str, arguments: serde_json::Value) -> String {
    let asks = Tool::builder("asks", "Needs approval.").approval(ApprovalPolicy::Always);
    let built = Tool::builder("built", "Calls a tool.")
        .run_async(|_, cx| async move { cx.tools().call("who", json!({})).await });
    let registry = Registry::new();
    let tools = vec![
        who::tool(),
        forward::tool(),
        recurse::tool(),
        asks.run(|_, _| "ran").unwrap(),
        built.unwrap(),
    ];
    registry.add(tools).unwrap();
    let scope = CallScope::new().caller(Caller::new("ada"));
    let invoker = Invoker::new(&registry).unwrap();
    let result = invoker.invoke_in(&scope, &ToolCall::new(name, arguments)).await;
    assert_eq!(result.outcome, Outcome::Ok);
    result.text().into_owned()
}

#[tokio::test]
async fn a_child_call_has_the_same_caller() {
    assert_eq!(run("forward", json!({"name": "who"})).await, "ok: ada");
    assert_eq!(run("built", json!({})).await, "ada");
}

#[tokio::test]
async fn a_child_call_is_a_call_like_any_other() {
    assert!(run("forward", json!({"name": "nobody"})).await.starts_with("unknown_tool: "));
    assert!(run("forward", json!({"name": "forward"})).await.starts_with("invalid_arguments: "));
    assert!(run("forward", json!({"name": "asks"})).await.starts_with("denied: "));
}

#[tokio::test]
async fn calls_inside_of_each_other_have_a_limit() {
    let text = run("recurse", json!({})).await;
    assert_eq!(
        text,
        "1 2 3 4 5 6 7 8 9 the call did not run: it is inside of more than 8 other calls"
    );
}

#[tokio::test]
async fn an_internal_tool_is_found_by_other_tools_alone_and_goes_along_with_them() {
    let hidden = Tool::builder("hidden", "Is called by others.").internal(true);
    let hidden = hidden.run(|_, _| "found").unwrap();
    let outer = Tool::builder("outer", "Calls the other.").run_async(|_, cx| async move {
        cx.tools().call("hidden", json!({})).await.text().into_owned()
    });
    let registry = Registry::new();
    registry.add(vec![hidden, outer.unwrap()]).unwrap();
    for view in [registry.all(), registry.select(["outer"]), registry.all().filter(|_| false)] {
        assert!(view.snapshot().unwrap().find("hidden").is_some());
    }
    let invoker = Invoker::new(registry.select(["outer"])).unwrap();
    let scope = CallScope::new();
    let listed = invoker.list(&scope).unwrap();
    assert!(listed.iter().map(|tool| tool.spec().name.as_str()).eq(["outer"]));
    let direct = invoker.call("hidden", "{}").await;
    assert_eq!(direct.outcome, Outcome::UnknownTool);
    assert!(direct.text().ends_with("available tools: outer"), "{direct:?}");
    assert_eq!(invoker.call("outer", "{}").await.text(), "found");
}
