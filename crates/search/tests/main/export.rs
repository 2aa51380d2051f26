//! The two tools, exported to another framework over a bridge.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolwright::schema::Dialect;
use toolwright::search::SearchGateway;
use toolwright::{
    ApprovalPolicy, ApprovalRequest, AuditRecord, Authorise, Bridge, CallScope, Caller,
    ExportedTools, Invoker, Outcome, Registry, Tool, ToolCall, ToolResult, tool,
};

/// Labels a parcel.
#[tool(idempotent)]
fn label(
    /// What to write, by the name of the field.
    labels: BTreeMap<String, String>,
) -> String {
    format!("{labels:?}")
}

/// Erases a file.
#[tool(destructive)]
fn erase(path: String) -> String {
    format!("erased {path}")
}

/// Returns the time.
#[tool(read_only, pinned)]
fn clock() -> String {
    "noon".to_owned()
}

fn registry() -> Registry {
    Registry::of(vec![label::tool(), erase::tool(), clock::tool()]).unwrap()
}

fn export(invoker: &Invoker) -> ExportedTools {
    Bridge::new(invoker).gateway(SearchGateway::new()).export().unwrap()
}

fn names(exported: &ExportedTools) -> Vec<&str> {
    exported.tools().iter().map(|tool| tool.name.as_str()).collect()
}

/// The names in the result of a search.
fn found(result: &ToolResult) -> Vec<String> {
    let result: Value = serde_json::from_str(&result.text()).unwrap();
    let tools = result["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn search(query: &str) -> ToolCall {
    ToolCall::new("search_tools", json!({ "query": query }))
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall::new("call_tool", json!({ "name": name, "arguments": arguments })).with_id("c-1")
}

#[tokio::test]
async fn the_two_tools_and_the_pinned_ones_are_exported_and_the_others_are_found() {
    let registry = registry();
    let exported = export(&Invoker::new(&registry).unwrap());
    assert_eq!(names(&exported), ["search_tools", "call_tool", "clock"]);
    assert_eq!(found(&exported.invoke(search("label a parcel")).await), ["label"]);
    assert_eq!(exported.invoke(ToolCall::new("clock", "{}")).await.text(), "noon");
    let late = Tool::builder("weigh", "Weighs a parcel.").run(|_, _| "3 kg").unwrap();
    registry.add(late).unwrap();
    let parcel = found(&exported.invoke(search("weigh a parcel")).await);
    assert_eq!(parcel.first().map(String::as_str), Some("weigh"), "tools that join are found");
    assert_eq!(exported.invoke(call("weigh", json!({}))).await.text(), "3 kg");
}

#[tokio::test]
async fn all_tools_are_exported_up_to_the_number() {
    let invoker = Invoker::new(registry()).unwrap();
    let beyond = |count| Bridge::new(&invoker).gateway(SearchGateway::beyond(count)).export();
    assert_eq!(names(&beyond(3).unwrap()), ["label", "erase", "clock"]);
    assert_eq!(names(&beyond(2).unwrap()), ["search_tools", "call_tool", "clock"]);
}

#[tokio::test]
async fn a_call_is_one_of_the_tool_that_it_names() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let audit = Arc::clone(&records);
    let invoker = Invoker::builder(registry())
        .approver(|request: ApprovalRequest<'_>| match request.arguments["path"].as_str() {
            Some("/a") => request.approve(),
            _ => request.deny("not that one"),
        })
        .audit(move |record: AuditRecord| audit.lock().unwrap().push(record.tool.to_string()));
    let exported = export(&invoker.build().unwrap());
    let erased = exported.invoke(call("erase", json!({ "path": "/a" }))).await;
    assert_eq!((&*erased.text(), erased.call_id.as_str()), ("erased /a", "c-1"));
    let denied = exported.invoke(call("Erase", json!({ "path": "/b" }))).await;
    assert_eq!(denied.outcome, Outcome::Denied);
    let invalid = exported.invoke(call("erase", json!({ "file": "/a" }))).await;
    assert_eq!(invalid.outcome, Outcome::InvalidArguments);
    let pending = exported.lift(call("erase", json!({ "path": "/a" })));
    assert_eq!(pending.name.as_str(), "erase", "frameworks that pause see the tool that will run");
    assert_eq!(*records.lock().unwrap(), ["erase", "erase", "erase"]);
}

#[tokio::test]
async fn changed_policies_and_fixed_tools_hold_behind_the_two() {
    let registry = registry();
    let invoker = Invoker::new(&registry).unwrap();
    let careful =
        invoker.with_policy(|_, policy| policy.approval = ApprovalPolicy::Always).unwrap();
    let fixed = careful.with_fixed_snapshot().unwrap();
    registry.remove("label");
    for (invoker, outcome) in [(careful, None), (fixed, Some(Outcome::Denied))] {
        let exported = export(&invoker);
        assert!(!exported.invoke(search("label")).await.is_error(), "the two need no approval");
        let result = exported.invoke(call("label", json!({ "labels": {} }))).await;
        match outcome {
            Some(outcome) => assert_eq!(result.outcome, outcome),
            None => assert!(result.text().contains("there is no tool `label`"), "{result:?}"),
        }
    }
}

#[tokio::test]
async fn what_a_caller_may_not_use_is_neither_found_nor_called() {
    let view = registry().all().layer(Authorise::new(|caller, tool| {
        caller.name() == Some("ada") || tool.name.as_str() != "erase"
    }));
    let exported = export(
        &Invoker::builder(view)
            .approver(|request: ApprovalRequest<'_>| request.approve())
            .build()
            .unwrap(),
    );
    let ada = CallScope::new().caller(Caller::new("ada"));
    let erase = call("erase", json!({ "path": "/a" }));
    assert_eq!(found(&exported.invoke_in(&ada, search("erase a file")).await), ["erase"]);
    assert_eq!(exported.invoke_in(&ada, erase.clone()).await.text(), "erased /a");
    assert!(found(&exported.invoke(search("erase a file")).await).is_empty());
    let unknown = exported.invoke(erase).await;
    assert!(unknown.text().starts_with("there is no tool `erase`"), "{unknown:?}");
}

#[tokio::test]
async fn names_that_are_taken_are_avoided_and_the_two_cannot_be_named() {
    let own = Tool::builder("search_tools", "Searches the shed.").run(|_, _| "a rake").unwrap();
    let exported = export(&Invoker::new(Registry::of(vec![own, clock::tool()]).unwrap()).unwrap());
    assert_eq!(names(&exported), ["search_tools_2", "call_tool", "clock"]);
    assert_eq!(exported.invoke(call("search_tools", json!({}))).await.text(), "a rake");
    for name in ["call_tool", "search_tools_2", "nothing"] {
        let unknown = exported.invoke(call(name, json!({}))).await;
        assert!(unknown.text().starts_with(&format!("there is no tool `{name}`")), "{unknown:?}");
    }
}

#[tokio::test]
async fn definitions_are_found_and_arguments_read_in_the_dialect_of_the_model() {
    let invoker = Invoker::new(registry()).unwrap();
    let bridge = Bridge::new(&invoker).dialect(Dialect::GEMINI_OPENAPI);
    let exported = bridge.gateway(SearchGateway::new()).export().unwrap();
    let result = exported.invoke(search("label a parcel")).await;
    let result: Value = serde_json::from_str(&result.text()).unwrap();
    let labels = &result["tools"][0]["input_schema"]["properties"]["labels"];
    assert_eq!(labels["type"], "array", "there, a map is a list of pairs: {result}");
    let pairs = json!({ "labels": [{ "key": "from", "value": "Ada" }] });
    let arguments = json!({ "name": "label", "arguments": pairs.to_string() });
    let labelled = exported.invoke(ToolCall::new("call_tool", arguments)).await;
    assert_eq!(labelled.text(), r#"{"from": "Ada"}"#);
}
