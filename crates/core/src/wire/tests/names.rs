//! Calls are converted between the tool's own names and schemas and those that the model sees.

use serde_json::{Value, json};
use toolwright_schema::{Dialect, Tape};

use super::{Sample, plan, planned};
use crate::call::ToolCall;
use crate::wire::ToolPlanner;

fn read(call: &ToolCall) -> Value {
    serde_json::from_str(call.arguments.as_str()).unwrap()
}

#[test]
fn a_call_is_lowered_and_lifted() {
    let tools = [
        Sample::new(
            "files.read",
            json!({"type": "object", "properties": {"path": {"type": "string"}, "größe": {"type": "integer", "enum": [1, 2]}, "map": {"type": "object", "additionalProperties": {"type": "integer"}}}, "required": ["path"], "additionalProperties": false}),
        ),
        Sample::closed("files_read", json!({"a": {"type": "string"}})),
        Sample::closed("dateien/löschen", json!({"a": {"type": "string"}})),
    ];
    for dialect in Dialect::ALL {
        let plan = plan(dialect, &tools);
        for arguments in
            [json!({"path": "/tmp"}), json!({"path": "/tmp", "größe": 2, "map": {"a": 1}})]
        {
            let own = ToolCall::new("files.read", arguments.to_string()).with_id("call_1");
            let wire = plan.lower(own);
            assert_eq!(Some(wire.name.as_str()), plan.wire_name("files.read"), "{dialect}");
            assert!(dialect.tool_name().is_valid(wire.name.as_str()), "{dialect}");
            assert_eq!(wire.id.as_str(), "call_1");

            let back = plan.lift(wire);
            assert_eq!(back.name.as_str(), "files.read", "{dialect}");
            assert_eq!(back.id.as_str(), "call_1");
            assert_eq!(read(&back), arguments, "{dialect}");
            assert!(tools[0].input.is_valid(Tape::from_value(&read(&back)).root()));
        }
        for name in ["files_read", "dateien/löschen"] {
            let call = plan.lower(ToolCall::new(name, r#"{"a":"b"}"#));
            assert_eq!(plan.lift(call).name.as_str(), name, "{dialect}");
        }
    }
}

#[test]
fn a_valid_name_of_another_tool_is_not_taken() {
    let tools = [
        Sample::closed("a.b", json!({"x": {"type": "string"}})),
        Sample::closed("a_b", json!({"y": {"type": "string"}})),
    ];
    let plan = plan(Dialect::OPENAI, &tools);
    assert_eq!(plan.wire_name("a_b"), Some("a_b"));
    let call = plan.lift(ToolCall::new("a_b", "{}"));
    assert_eq!(call.name.as_str(), "a_b");
    assert_ne!(plan.wire_name("a.b"), Some("a_b"));
}

#[test]
fn no_tool_gets_a_reserved_name() {
    let tools = [
        Sample::closed("web_search", json!({"x": {"type": "string"}})),
        Sample::closed("web.search", json!({"x": {"type": "string"}})),
    ];
    let planner = ToolPlanner::new(Dialect::OPENAI).reserve(["web_search"]);
    let plan = planned(&planner, Dialect::OPENAI, &tools);
    for tool in plan.tools() {
        assert!(tool.wire_name.starts_with("web_search_"), "{}", tool.wire_name);
        let call = plan.lift(ToolCall::new(tool.wire_name.as_str(), "{}"));
        assert_eq!(call.name.as_str(), tool.name);
    }
    let hosted = plan.lift(ToolCall::new("web_search", "{}"));
    assert_eq!(hosted.name.as_str(), "web_search");
}

#[test]
fn a_call_that_cannot_be_converted_is_unchanged() {
    let tools = [Sample::new(
        "files.read",
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false}),
    )];
    let plan = plan(Dialect::OPENAI, &tools);
    let unknown = plan.lift(ToolCall::new("nonsense", "{\"path\": null}"));
    assert_eq!(unknown.name.as_str(), "nonsense");
    assert_eq!(unknown.arguments.as_str(), "{\"path\": null}");
    let broken = plan.lift(ToolCall::new("files_read", "certainly not JSON \u{0}"));
    assert_eq!(broken.name.as_str(), "files.read");
    assert_eq!(plan.wire_name("nonsense"), None);
    assert_eq!(plan.lower(ToolCall::new("gone", "{}")).name.as_str(), "gone");
}

#[test]
fn broken_json_is_repaired_where_it_has_to_be_parsed() {
    let tools = [Sample::new(
        "read",
        json!({"type": "object", "properties": {"path": {"type": "string"}, "from": {"type": "integer"}}, "required": ["path"], "additionalProperties": false}),
    )];
    let plan = plan(Dialect::OPENAI, &tools);
    let call = plan.lift(ToolCall::new("read", "{\"path\": \"a\", \"from\": null,}"));
    assert_eq!(read(&call), json!({"path": "a"}));
}
