//! Tools that programs of the model call.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{Item, Message, ModelId, ModelRequest, Step, StopReason, Usage};
use toolwright_core::wire::{ToolPlan, ToolPlanner};
use toolwright_core::{Content, Registry, Tool, ToolResult};

use super::{Anthropic, MODEL, answer, items, text_of};
use crate::protocol::Protocol as _;

/// A tool that only programs may call, one that both may, and one without callers.
fn plan() -> ToolPlan {
    let tool = |name: &str, callers: &[&str]| {
        let tool = Tool::builder(name, "Does it.").param::<String>("city", "A city.");
        tool.allowed_callers(callers.iter().copied()).run(|_, _| "done").unwrap()
    };
    let registry = Registry::new();
    registry
        .add(vec![
            tool("sum", &["code_execution_20260120"]),
            tool("look", &["direct", "code_execution_20250825"]),
            tool("get_weather", &[]),
        ])
        .unwrap();
    ToolPlanner::new(Anthropic.dialect()).plan(registry.snapshot().iter())
}

fn body(messages: Vec<Message>, model: &str) -> Value {
    let mut request = ModelRequest::default();
    request.messages = messages;
    Anthropic.body(&request, &plan(), model).into()
}

fn user() -> Message {
    Message::User(vec![Content::text("Go.")])
}

fn program() -> Value {
    json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution",
        "input": {"code": "await sum(city='Oslo')"}})
}

fn call() -> Value {
    json!({"type": "tool_use", "id": "toolu_1", "name": "sum", "input": {"city": "Oslo"},
        "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}})
}

/// A step in which a program calls a tool, and the tool's result.
fn waiting_step() -> [Message; 2] {
    let block = |index: u64, block: Value| {
        [
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_stop", "index": index}),
        ]
    };
    let end = [
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use",
            "container": {"id": "container_1", "expires_at": "2026-03-14T10:00:00Z"}}}),
        json!({"type": "message_stop"}),
    ];
    let start = json!({"type": "message_start", "message": {"content": []}});
    let frames: Vec<Value> =
        [start].into_iter().chain(block(0, program())).chain(block(1, call())).chain(end).collect();
    let items: Vec<Item> = items(&answer(&text_of(&frames)));
    let model = ModelId::new("anthropic", MODEL);
    let step = Step::new(model, items, StopReason::Calls, Usage::default());
    let mut result = ToolResult::success("3");
    result.call_id = "toolu_1".into();
    [Message::Step(Arc::new(step)), Message::Results(vec![result])]
}

#[test]
fn callers_are_part_of_the_definition_and_bring_the_tool_that_runs_programs() {
    let tools = body(vec![user()], MODEL)["tools"].take();
    let [look, sum, weather, hosted] = ["look", "sum", "get_weather", "code_execution"]
        .map(|name| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap());
    assert_eq!(sum["allowed_callers"], json!(["code_execution_20260120"]));
    assert_eq!(look["allowed_callers"], json!(["direct", "code_execution_20250825"]));
    assert_eq!(weather.get("allowed_callers"), None);
    // The API rejects strict tools that programs may call.
    assert_eq!(
        [&sum["strict"], &look["strict"], &weather["strict"]],
        [&json!(false), &json!(false), &json!(true)]
    );
    assert_eq!(hosted["type"], "code_execution_20260120");

    let older = body(vec![user()], "claude-3-haiku-20240307")["tools"].take();
    assert_eq!(older.as_array().unwrap().len(), 3);
    assert!(!older.to_string().contains("allowed_callers"), "{older}");
}

#[test]
fn a_programs_call_is_replayed_with_its_caller_and_container() {
    let messages = [user()].into_iter().chain(waiting_step()).collect();
    let sent = body(messages, MODEL);
    assert_eq!(sent["container"], "container_1");
    assert_eq!(sent["messages"][1]["content"], json!([program(), call()]));
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
}

#[test]
fn a_program_whose_turn_has_ended_is_left_out() {
    let messages = [user()].into_iter().chain(waiting_step()).chain([user()]).collect();
    let sent = body(messages, MODEL);
    assert_eq!(sent.get("container"), None);
    let mut direct = call();
    direct.as_object_mut().unwrap().remove("caller");
    assert_eq!(sent["messages"][1]["content"], json!([direct]));
}
