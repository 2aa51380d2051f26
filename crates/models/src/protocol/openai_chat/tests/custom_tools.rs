//! Custom tools: their definitions, their calls and how these are replayed.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{Item, Message, ModelEvent, ModelRequest, StopReason, ToolChoice};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{ToolCall, ToolResult};

use super::{COMPATIBLE, OPENAI, OpenAiChat, delta, done, finish, finished, items, step, streamed};
use crate::protocol::Protocol as _;
use crate::protocol::tests::{calls, parse_response, plan_tools};

fn plan(chat: &OpenAiChat) -> Arc<ToolPlan> {
    let definitions = json!([{"type": "custom", "name": "db.query", "description": "Runs a query.",
        "format": {"type": "grammar", "syntax": "regex", "definition": "a+"}}]);
    plan_tools(chat, &definitions.to_string())
}

/// Two calls, of which the second comes in one piece.
fn frames(reason: &str) -> Vec<ModelEvent> {
    let call = |call: Value| delta(json!({"tool_calls": [call]}));
    let frames = [
        call(
            json!({"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "db_query", "input": ""}}),
        ),
        call(json!({"index": 0, "custom": {"input": "{\"a\""}})),
        call(json!({"index": 0, "custom": {"input": ":\n{}"}})),
        call(
            json!({"index": 1, "id": "call_2", "type": "custom", "custom": {"name": "db_query", "input": "aa"}}),
        ),
        finish(reason),
        done(),
    ];
    let frames = frames.iter().map(|frame| ("", frame.as_str()));
    parse_response(&OPENAI, plan(&OPENAI), frames).unwrap()
}

#[test]
fn the_text_of_a_custom_tool_is_streamed_as_its_argument() {
    let events = frames("tool_calls");
    assert_eq!(
        streamed(&events),
        [
            r#"call 0 call_1 db.query"#,
            r#"more 0 {"input":""#,
            r#"more 0 {\"a\""#,
            r#"more 0 :\n{}"#,
            r#"call 1 call_2 db.query"#,
            r#"more 1 {"input":"aa"#,
            r#"more 0 "}"#,
            r#"more 1 "}"#,
        ]
    );
    let calls = calls(&events);
    assert_eq!(calls[0].arguments.as_str(), r#"{"input":"{\"a\":\n{}"}"#);
    assert_eq!(calls[1].arguments.as_str(), r#"{"input":"aa"}"#);
    assert_eq!(finished(&events).0, StopReason::Calls);
}

#[test]
fn the_arguments_of_a_text_that_is_cut_off_are_no_json() {
    let events = frames("length");
    let calls = calls(&events);
    assert_eq!(calls[0].arguments.as_str(), r#"{"input":"{\"a\":\n{}"}"#);
    assert_eq!(calls[1].arguments.as_str(), r#"{"input":"aa"#);
}

/// The messages after a step with these items.
fn messages_after(chat: &OpenAiChat, items: Vec<Item>) -> Value {
    let mut done = ToolResult::success("done");
    done.call_id = "call_1".into();
    let mut request = ModelRequest::default();
    request.messages = vec![Message::Step(Arc::new(step(items))), Message::Results(vec![done])];
    chat.body(&request, &plan(chat), "gpt-5").remove("messages").unwrap()
}

#[test]
fn a_custom_call_is_replayed_as_it_came_and_elsewhere_as_a_function_call() {
    let first = || items(&frames("tool_calls")).into_iter().take(1).collect();
    let messages = messages_after(&OPENAI, first());
    assert_eq!(
        messages[0]["tool_calls"],
        json!([{"id": "call_1", "type": "custom",
            "custom": {"name": "db_query", "input": "{\"a\":\n{}"}}])
    );
    assert_eq!(messages[1], json!({"role": "tool", "tool_call_id": "call_1", "content": "done"}));

    let messages = messages_after(&COMPATIBLE, first());
    assert_eq!(
        messages[0]["tool_calls"],
        json!([{"id": "call_1", "type": "function",
            "function": {"name": "db_query", "arguments": r#"{"input":"{\"a\":\n{}"}"#}}])
    );
}

#[test]
fn a_call_of_another_vendor_is_replayed_in_the_form_of_the_definition() {
    let call = ToolCall::new("db.query", r#"{"input": "aa"}"#).with_id("call_1");
    let messages = messages_after(&OPENAI, vec![Item::call(call)]);
    assert_eq!(
        messages[0]["tool_calls"],
        json!([{"id": "call_1", "type": "custom", "custom": {"name": "db_query", "input": "aa"}}])
    );
}

#[test]
fn custom_tools_are_defined_and_chosen_as_such() {
    let mut request = ModelRequest::default();
    request.tool_choice = ToolChoice::Named("db.query".to_owned());
    let body = OPENAI.body(&request, &plan(&OPENAI), "gpt-5");
    assert_eq!(
        body["tools"],
        json!([{"type": "custom", "custom": {"name": "db_query", "description": "Runs a query.",
            "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a+"}}}}])
    );
    assert_eq!(body["tool_choice"], json!({"type": "custom", "custom": {"name": "db_query"}}));
    let body = COMPATIBLE.body(&request, &plan(&COMPATIBLE), "gpt-5");
    assert_eq!(body["tools"][0]["function"]["name"], "db_query");
}
