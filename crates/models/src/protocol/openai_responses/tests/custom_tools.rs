//! Custom tools: their definitions, their calls and how these are replayed.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{Item, Message, ModelEvent, StopReason, ToolChoice};
use toolwright_core::wire::{ToolPlan, ToolPlanner, import_definitions};
use toolwright_core::{ToolCall, ToolResult};

use super::{OpenAiResponses, body, event_line, request_with, result, step};
use crate::protocol::Protocol as _;
use crate::protocol::tests::{calls, finished, items, parse_response, plan_tools};

const DEFINITIONS: &str = r#"[
    {"type": "custom", "name": "db.query", "description": "Runs a query.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"a\"+"}},
    {"type": "custom", "name": "note", "description": "Keeps a note."}
]"#;

fn plan() -> Arc<ToolPlan> {
    plan_tools(&OpenAiResponses, DEFINITIONS)
}

/// The plan for a model that does not call custom tools.
fn functions() -> ToolPlan {
    let tools = import_definitions(DEFINITIONS).unwrap().into_iter();
    let tools: Vec<_> = tools.map(Result::unwrap).collect();
    ToolPlanner::new(OpenAiResponses.dialect()).plan(&tools)
}

fn events(frames: &str) -> Vec<ModelEvent> {
    let lines = frames.lines().map(str::trim).filter(|line| !line.is_empty());
    parse_response(&OpenAiResponses, plan(), lines.map(|line| ("", line))).unwrap()
}

fn lines(frames: &str) -> Vec<String> {
    events(frames).iter().map(event_line).collect()
}

const STREAM: &str = r#"
    {"type":"response.output_item.added","output_index":0,"item":{"id":"ctc_1","type":"custom_tool_call","status":"in_progress","call_id":"call_1","input":"","name":"db_query"}}
    {"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":0,"delta":"say \"a\"","obfuscation":"x"}
    {"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":0,"delta":"\n{}"}
    {"type":"response.custom_tool_call_input.done","item_id":"ctc_1","output_index":0,"input":"say \"a\"\n{}"}
    {"type":"response.output_item.done","output_index":0,"item":{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"call_1","input":"say \"a\"\n{}","name":"db_query"}}"#;

#[test]
fn the_text_of_a_custom_tool_is_streamed_as_its_argument() {
    let end = r#"{"type":"response.completed","response":{"status":"completed"}}"#;
    assert_eq!(
        lines(&format!("{STREAM}\n{end}")),
        [
            r#"call 0 begins: db.query call_1"#,
            r#"call 0 delta {"input":"say \"a\""#,
            r#"call 0 delta \n{}"#,
            r#"call 0 delta "}"#,
            r#"item call db.query call_1 {"input":"say \"a\"\n{}"}"#,
            "finished Calls, 0 in, 0 out",
        ]
    );
}

#[test]
fn a_custom_call_without_deltas_or_before_another_item_is_complete() {
    let frames = r#"
        {"type":"response.output_item.done","output_index":0,"item":{"id":"ctc_1","type":"custom_tool_call","call_id":"call_1","input":"one","name":"note"}}
        {"type":"response.output_item.done","output_index":1,"item":{"id":"ctc_2","type":"custom_tool_call","call_id":"call_2","input":"","name":"note"}}
        {"type":"response.completed","response":{"status":"completed"}}"#;
    assert_eq!(
        lines(frames),
        [
            "call 0 begins: note call_1",
            r#"call 0 delta {"input":"one"#,
            r#"call 0 delta "}"#,
            r#"item call note call_1 {"input":"one"}"#,
            "call 1 begins: note call_2",
            r#"call 1 delta {"input":""#,
            r#"call 1 delta "}"#,
            r#"item call note call_2 {"input":""}"#,
            "finished Calls, 0 in, 0 out",
        ]
    );
}

#[test]
fn the_arguments_of_a_text_that_is_cut_off_are_no_json() {
    let end = r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}"#;
    let added = STREAM.lines().take(3).collect::<Vec<_>>().join("\n");
    for frames in [STREAM.to_owned(), added] {
        let events = events(&format!("{frames}\n{end}"));
        let arguments = &calls(&events)[0].arguments;
        assert!(arguments.as_str().starts_with(r#"{"input":"say"#), "{arguments}");
        assert!(serde_json::from_str::<Value>(arguments.as_str()).is_err(), "{arguments}");
        assert_eq!(finished(&events).0, StopReason::Length);
    }
}

/// The request after a step with these items.
fn input_after(items: Vec<Item>, plan: &ToolPlan) -> Value {
    let results = Message::Results(vec![result("call_1", ToolResult::success("done"))]);
    body(&request_with(vec![step(items), results]), plan)["input"].take()
}

#[test]
fn a_custom_call_is_replayed_as_it_came() {
    let end = r#"{"type":"response.completed","response":{"status":"completed"}}"#;
    let input = input_after(items(&events(&format!("{STREAM}\n{end}"))), &plan());
    assert_eq!(
        input,
        json!([
            {"id": "ctc_1", "type": "custom_tool_call", "call_id": "call_1",
                "input": "say \"a\"\n{}", "name": "db_query"},
            {"type": "custom_tool_call_output", "call_id": "call_1", "output": "done"},
        ])
    );
}

#[test]
fn a_custom_call_is_a_function_call_for_a_model_without_custom_tools() {
    let end = r#"{"type":"response.completed","response":{"status":"completed"}}"#;
    let input = input_after(items(&events(&format!("{STREAM}\n{end}"))), &functions());
    assert_eq!(
        input,
        json!([
            {"type": "function_call", "name": "db_query", "call_id": "call_1",
                "arguments": r#"{"input":"say \"a\"\n{}"}"#},
            {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        ])
    );
}

#[test]
fn a_call_of_another_vendor_is_replayed_in_the_form_of_the_definition() {
    let call =
        |arguments: &str| vec![Item::call(ToolCall::new("db.query", arguments).with_id("call_1"))];
    let custom = input_after(call(r#"{"input": "aa"}"#), &plan());
    assert_eq!(
        (&custom[0]["type"], &custom[0]["input"]),
        (&json!("custom_tool_call"), &json!("aa"))
    );
    assert_eq!(custom[1]["type"], "custom_tool_call_output");
    // Arguments that have no text cannot be written as one.
    let function = input_after(call(r#"{"sql": 1}"#), &plan());
    assert_eq!(function[0]["type"], "function_call");
    assert_eq!(function[1]["type"], "function_call_output");
}

#[test]
fn custom_tools_are_defined_and_chosen_as_such() {
    let mut request = request_with(Vec::new());
    request.tool_choice = ToolChoice::Named("db.query".to_owned());
    let sent = body(&request, &plan());
    assert_eq!(
        sent["tools"],
        json!([
            {"type": "custom", "name": "db_query", "description": "Runs a query.",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"a\"+"}},
            {"type": "custom", "name": "note", "description": "Keeps a note.", "format": {"type": "text"}},
        ])
    );
    assert_eq!(sent["tool_choice"], json!({"type": "custom", "name": "db_query"}));

    let sent = body(&request, &functions());
    assert_eq!(sent["tool_choice"], json!({"type": "function", "name": "db_query"}));
    let parameter = &sent["tools"][0]["parameters"]["properties"]["input"];
    assert_eq!(parameter["description"], "Text in this grammar (lark):\nstart: \"a\"+");
}
