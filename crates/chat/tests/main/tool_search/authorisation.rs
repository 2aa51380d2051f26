//! What a caller may not use, a search does not know, and `call_tool` does not call.

use toolwright::{Authorise, Caller};

use super::*;

/// Searches for the tools, and calls `pay` whatever was found; returns the names that were found and the result of the call.
async fn searched_and_paid(
    change: impl Fn(TurnRequest) -> TurnRequest,
) -> (Vec<String>, ToolResult) {
    let log = Log::default();
    let model = searches("pays a bill, inspects an engine")
        .calls("call_tool", naming("pay", json!({"n": 1})))
        .replies("No.");
    let tools = registry(vec![pay(&log), inspect(&log)]);
    let only_ada = Authorise::new(|caller: &Caller, tool| {
        caller.name() == Some("ada") || tool.hints.read_only == Some(true)
    });
    let invoker = Invoker::new(tools.all().layer(only_ada)).unwrap();
    let chat = Chat::builder(&invoker, model).tool_search(ToolSearchMode::On).build();
    let response = change(chat.message().user("Pay!")).call().await.unwrap();
    if let [asked] = response.pending_approvals() {
        assert_eq!(asked.call.name, "pay");
        return (found(&response.results()[0]), ToolResult::success("asked"));
    }
    assert!(log.is_empty());
    let results = response.results();
    (found(&results[0]), results[1].clone())
}

fn ada(request: TurnRequest) -> TurnRequest {
    request.caller(Caller::new("ada"))
}

#[track_caller]
fn assert_unknown(searched: (Vec<String>, ToolResult)) {
    assert_eq!(searched.0, ["inspect_engine"]);
    assert_eq!(searched.1.outcome, Outcome::UnknownTool);
    assert!(searched.1.text().contains("no search has found a tool `pay`"));
}

#[tokio::test]
async fn a_caller_that_is_authorised_finds_and_calls_a_tool() {
    let (mut found, result) = searched_and_paid(ada).await;
    found.sort();
    assert_eq!(found, ["inspect_engine", "pay"]);
    assert_eq!(result.text(), "asked");
}

#[tokio::test]
async fn a_tool_that_the_caller_is_not_authorised_for_is_unknown() {
    assert_unknown(searched_and_paid(|request| request).await);
    assert_unknown(searched_and_paid(|request| request.caller(Caller::new("eve"))).await);
}

#[tokio::test]
async fn a_tool_that_is_excluded_filtered_or_not_allowed_is_unknown() {
    assert_unknown(searched_and_paid(|request| ada(request).exclude(["pay"])).await);
    assert_unknown(
        searched_and_paid(|request| ada(request).only_tools_named(["inspect_engine"])).await,
    );
    let read_only =
        |request: TurnRequest| ada(request).allow(|spec| spec.hints.read_only == Some(true));
    assert_unknown(searched_and_paid(read_only).await);
}

#[tokio::test]
async fn a_tool_that_was_found_with_more_rights_is_unknown_without_them() {
    let log = Log::default();
    let model = searches("pays a bill")
        .replies("Found.")
        .calls("call_tool", naming("pay", json!({"n": 1})))
        .replies("No.");
    let chat = searching(model.clone(), vec![pay(&log)]).build();
    let turn = || chat.message().conversation("room").user("Pay!");
    turn().call().await.unwrap();
    turn().exclude(["pay"]).tools(inspect(&log)).call().await.unwrap();
    assert!(last_result_texts(&model)[0].contains("no search has found a tool `pay`"));
}
