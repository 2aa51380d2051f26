//! Requests and responses without a network.

mod custom_tools;
mod errors;
mod random;
mod replies;
mod requests;
mod streams;

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use toolwright_chat::{
    Item, ItemKind, Message, ModelError, ModelEvent, ModelId, ModelRequest, Step, StopReason, Usage,
};
use toolwright_core::ToolResult;
use toolwright_core::wire::ToolPlan;

use super::OpenAiResponses;
use crate::protocol::Protocol as _;
use crate::protocol::tests::{self, parse_response, plan_tools};

/// Two tools: one with a name that the API rejects and an optional parameter, one without parameters.
static PLAN: LazyLock<Arc<ToolPlan>> = LazyLock::new(|| {
    plan_tools(
        &OpenAiResponses,
        r#"[
            {"name": "shop.find", "description": "Finds a thing.", "inputSchema": {
                "type": "object",
                "properties": {"what": {"type": "string"}, "most": {"type": "integer"}},
                "required": ["what"], "additionalProperties": false}},
            {"name": "now", "description": "Tells the time.", "inputSchema": {
                "type": "object", "properties": {}, "additionalProperties": false}}
        ]"#,
    )
});

fn plan() -> Arc<ToolPlan> {
    Arc::clone(&PLAN)
}

fn no_tools() -> Arc<ToolPlan> {
    plan_tools(&OpenAiResponses, "[]")
}

fn body(request: &ModelRequest, plan: &ToolPlan) -> Value {
    Value::Object(OpenAiResponses.body(request, plan, "gpt-5"))
}

fn request_with(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = messages;
    request
}

fn input(messages: Vec<Message>) -> Value {
    body(&request_with(messages), &plan())["input"].take()
}

fn step(items: Vec<Item>) -> Message {
    let model = ModelId::new("openai", "gpt-5");
    Message::Step(Arc::new(Step::new(model, items, StopReason::Calls, Usage::default())))
}

fn result(call: &str, mut result: ToolResult) -> ToolResult {
    result.call_id = call.into();
    result
}

/// Parses the frames of a complete response, one per line.
fn events(frames: &str) -> Result<Vec<ModelEvent>, ModelError> {
    let lines = frames.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    parse_response(&OpenAiResponses, plan(), lines.map(|line| ("", line)))
}

fn items(frames: &str) -> Vec<Item> {
    tests::items(&events(frames).unwrap())
}

/// The events of a response, a line each.
fn event_lines(frames: &str) -> Vec<String> {
    events(frames).unwrap().iter().map(event_line).collect()
}

fn event_line(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Text(text) => format!("text {text:?}"),
        ModelEvent::Reasoning(text) => format!("reasoning {text:?}"),
        ModelEvent::CallBegins { index, id, name } => format!("call {index} begins: {name} {id}"),
        ModelEvent::CallDelta { index, delta } => format!("call {index} delta {delta}"),
        ModelEvent::Item(item) => match &item.kind {
            ItemKind::Call { call } => {
                format!("item call {} {} {}", call.name, call.id, call.arguments)
            }
            kind => format!("item {kind:?}"),
        },
        ModelEvent::Finished { stop, usage } => {
            format!("finished {stop:?}, {} in, {} out", usage.input, usage.output)
        }
        other => format!("{other:?}"),
    }
}
