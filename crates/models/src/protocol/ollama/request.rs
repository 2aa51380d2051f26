//! Writes the JSON body of a request.

use serde_json::{Map, Value, json};
use toolwright_chat::{ItemKind, Message, ModelRequest, Step, ToolChoice};
use toolwright_core::schema::{Dialect, Lowered, Schema};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{Content, ToolCall, ToolResult};

use super::NAME;
use super::content::message_with_content;
use crate::protocol::call_identifiers::valid_tool_name;
use crate::protocol::json::{arguments_object, merge_objects, number, object, unless_empty};
use crate::protocol::results::{CallReference, results_of_step, take_result};

pub(super) fn request_body(
    request: &ModelRequest,
    tools: &ToolPlan,
    model: &str,
) -> Map<String, Value> {
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
                let (message, calls) = replay_step(step, tools);
                out.extend(message.map(Value::Object));
                let results = results_of_step(&request.messages, index);
                out.extend(result_messages(&calls, results));
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

/// Writes a step as one message; also returns its calls.
fn replay_step<'a>(
    step: &'a Step,
    tools: &ToolPlan,
) -> (Option<Map<String, Value>>, Vec<CallReference<'a>>) {
    let (mut content, mut thinking) = (String::new(), String::new());
    let mut entries = Vec::new();
    let mut calls = Vec::new();
    for item in &step.items {
        let raw = item.raw_json(NAME);
        let raw = raw.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        match (&item.kind, raw) {
            (ItemKind::Text { text } | ItemKind::Refusal { text }, _) => content.push_str(text),
            // Another protocol's reasoning is left out.
            (ItemKind::Reasoning { text }, Some(_)) => thinking.push_str(text),
            (ItemKind::Call { call }, raw) => {
                let entry = raw.unwrap_or_else(|| call_entry(call, tools));
                let field = |pointer| entry.pointer(pointer)?.as_str().map(str::to_owned);
                calls.push(CallReference {
                    id: &call.id,
                    name: field("/function/name").unwrap_or_default(),
                    wire_id: field("/id").filter(|id| !id.is_empty()),
                });
                entries.push(entry);
            }
            (ItemKind::Other, Some(entry)) => entries.push(entry),
            _ => {}
        }
    }
    if content.is_empty() && thinking.is_empty() && entries.is_empty() {
        return (None, calls);
    }
    let message = object([
        ("role", "assistant".into()),
        ("content", content.into()),
        ("thinking", unless_empty(thinking)),
        ("tool_calls", unless_empty(entries)),
    ]);
    (Some(message), calls)
}

/// A call without raw JSON of this protocol.
fn call_entry(call: &ToolCall, tools: &ToolPlan) -> Value {
    let ToolCall { id, name, arguments, .. } = tools.lower(call.clone());
    let name = valid_tool_name(name.as_str());
    let arguments = arguments_object(arguments.as_str());
    json!({"id": id, "function": {"name": name, "arguments": arguments}})
}

/// One message per call, in their order.
fn result_messages(calls: &[CallReference<'_>], mut results: Vec<&ToolResult>) -> Vec<Value> {
    let responses = calls.iter().map(|call| {
        let mut response = match take_result(&mut results, call.id) {
            Some(result) if result.is_error() => error_message(&result.content),
            Some(result) => message_with_content("tool", &result.content),
            None => error_message(&[Content::text("no result of this call is known")]),
        };
        response.insert("tool_name".to_owned(), call.name.as_str().into());
        if let Some(id) = &call.wire_id {
            response.insert("tool_call_id".to_owned(), id.as_str().into());
        }
        response.into()
    });
    responses.collect()
}

/// An error result, for which the API has no field.
fn error_message(items: &[Content]) -> Map<String, Value> {
    let mut response = message_with_content("tool", items);
    if let Some(Value::String(content)) = response.get_mut("content") {
        content.insert_str(0, "error: ");
    }
    response
}

/// The tools that the model may call: the API has no `tool_choice`.
fn tool_definitions(choice: &ToolChoice, tools: &ToolPlan) -> Vec<Value> {
    let mut definitions: Vec<Value> = serde_json::from_str(tools.json()).unwrap_or_default();
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
