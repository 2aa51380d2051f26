//! Writes the JSON body of a request.

use serde_json::{Value, json};
use toolwright_chat::{ItemKind, Message, ModelRequest, Step, ToolChoice};
use toolwright_core::schema::{Dialect, Lowered, Schema};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{Content, ToolCall, ToolResult};

use super::NAME;
use super::content::message_with_content;
use crate::protocol::call_identifiers::valid_tool_name;
use crate::protocol::json::{
    JsonObject, arguments_object, merge_objects, number, object, unless_empty,
};
use crate::protocol::raw_fields;
use crate::protocol::results::{results_of_step, take_result};

pub(super) fn request_body(request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
    let options = &request.options;
    let format = request.response_format.as_ref();
    let model_options = object([
        ("num_predict", options.max_tokens.into()),
        ("temperature", number(options.temperature)),
        ("top_p", number(options.top_p)),
    ]);
    let mut body = object([
        ("model", model.into()),
        ("messages", messages(request, tools).into()),
        ("stream", true.into()),
        ("tools", unless_empty(tool_definitions(&request.tool_choice, tools))),
        ("format", format.map(|format| response_schema(&format.schema)).into()),
        ("think", options.effort.as_deref().map(think_setting).into()),
        ("options", unless_empty(model_options)),
    ]);
    merge_objects(&mut body, &options.extra);
    body
}

fn messages(request: &ModelRequest, tools: &ToolPlan) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    if let Some(system) = request.system.as_deref().filter(|text| !text.is_empty()) {
        out.push(json!({"role": "system", "content": system}));
    }
    for (index, message) in request.messages.iter().enumerate() {
        match message {
            Message::User(items) => out.extend(message_unless_blank("user", items)),
            Message::Assistant(items) => out.extend(message_unless_blank("assistant", items)),
            Message::Step(step) => {
                let results = results_of_step(&request.messages, index);
                out.extend(replay_step(step, results, tools));
            }
            // Results without their calls are left out.
            _ => {}
        }
    }
    out
}

/// A message, unless it has neither text nor images.
fn message_unless_blank(role: &str, items: &[Content]) -> Option<Value> {
    let message = message_with_content(role, items);
    let is_blank = |content: &Value| content.as_str().is_some_and(|text| text.trim().is_empty());
    let is_blank = message.get("content").is_none_or(is_blank);
    (!is_blank || message.contains_key("images")).then(|| message.into())
}

/// Writes a step as one message, and the result of each of its calls as another.
fn replay_step(step: &Step, mut results: Vec<&ToolResult>, tools: &ToolPlan) -> Vec<Value> {
    let (mut content, mut thinking) = (String::new(), String::new());
    let (mut calls, mut messages) = (Vec::new(), Vec::new());
    for item in &step.items {
        match (&item.kind, raw_fields::<Value>(NAME, item)) {
            (ItemKind::Text { text } | ItemKind::Refusal { text }, _) => content.push_str(text),
            // Another protocol's reasoning is left out.
            (ItemKind::Reasoning { text }, Some(_)) => thinking.push_str(text),
            (ItemKind::Call { call }, raw) => {
                let entry = raw.unwrap_or_else(|| call_entry(call, tools));
                messages.push(result_message(&entry, take_result(&mut results, &call.id)));
                calls.push(entry);
            }
            (ItemKind::Other, Some(entry)) => calls.push(entry),
            _ => {}
        }
    }
    if !(content.is_empty() && thinking.is_empty() && calls.is_empty()) {
        let message = object([
            ("role", "assistant".into()),
            ("content", content.into()),
            ("thinking", unless_empty(thinking)),
            ("tool_calls", unless_empty(calls)),
        ]);
        messages.insert(0, message.into());
    }
    messages
}

/// A call without raw JSON of this protocol.
fn call_entry(call: &ToolCall, tools: &ToolPlan) -> Value {
    let ToolCall { id, name, arguments, .. } = tools.lower(call.clone());
    let name = valid_tool_name(name.as_str());
    let arguments = arguments_object(arguments.as_str());
    json!({"id": id, "function": {"name": name, "arguments": arguments}})
}

/// The result of a call, whose name and id it repeats.
fn result_message(call: &Value, result: Option<&ToolResult>) -> Value {
    let field = |pointer| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut message = match result {
        Some(result) if result.is_error() => error_message(&result.content),
        Some(result) => message_with_content("tool", &result.content),
        None => error_message(&[Content::text("no result of this call is known")]),
    };
    message.insert("tool_name".to_owned(), field("/function/name").into());
    message.extend(object([("tool_call_id", unless_empty(field("/id")))]));
    message.into()
}

/// An error result, for which the API has no field.
fn error_message(items: &[Content]) -> JsonObject {
    let mut response = message_with_content("tool", items);
    if let Some(Value::String(content)) = response.get_mut("content") {
        content.insert_str(0, "error: ");
    }
    response
}

/// The tools that the model may call: the API has no `tool_choice`.
fn tool_definitions(choice: &ToolChoice, tools: &ToolPlan) -> Vec<Value> {
    let mut definitions = tools.definitions().to_vec();
    match choice {
        ToolChoice::None => definitions.clear(),
        ToolChoice::Named(name) => {
            let name = tools.wire_name(name).unwrap_or(name);
            definitions.retain(|tool| tool.pointer("/function/name").is_some_and(|it| it == name));
        }
        _ => {}
    }
    definitions
}

/// The API rejects a request with any other value.
fn think_setting(effort: &str) -> Value {
    match effort.to_ascii_lowercase().as_str() {
        "none" => false.into(),
        "minimal" | "low" => "low".into(),
        "medium" => "medium".into(),
        "high" => "high".into(),
        "xhigh" | "max" => "max".into(),
        _ => true.into(),
    }
}

/// The schema of a response format; lowered only if the output needs no lifting.
pub(super) fn response_schema(schema: &Schema) -> Value {
    let lowered = schema.lower(Dialect::OLLAMA).ok();
    let needs_no_lifting = |lowered: &&Lowered| {
        lowered.is_lossless() && lowered.is_closed() && lowered.keeps_argument_form()
    };
    match lowered.filter(needs_no_lifting) {
        Some(lowered) => lowered.schema().clone(),
        // The dialect is that of tools and has few keywords; a response format becomes a grammar, which supports more.
        None => schema.as_value().clone(),
    }
}
