//! Writes the `input` items of a request.
//!
//! The API rejects a call without its result, and an approval request without its response.

use serde_json::{Value, json};
use toolwright_chat::{Item, ItemKind, Message, ModelRequest, Step};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{Content, Outcome, ToolCall, ToolResult};

use super::pending_items::CUSTOM_CALL;
use super::{NAME, tool_search, wire};
use crate::protocol::call_identifiers::{UniqueCallIds, valid_tool_name};
use crate::protocol::json::object;
use crate::protocol::raw_fields;
use crate::protocol::results::results_of_step;
use crate::protocol::search_results::SearchResults;

/// Writes the history as items.
pub(super) fn input_items(request: &ModelRequest, tools: &ToolPlan) -> Vec<Value> {
    let messages = &request.messages;
    let searches = SearchResults::new(request, tools);
    let mut items = Vec::new();
    let mut ids = UniqueCallIds::default();
    for (index, message) in messages.iter().enumerate() {
        match message {
            Message::User(content) => {
                let parts: Vec<Value> = content.iter().map(content_part).collect();
                if !parts.is_empty() {
                    items.push(json!({"type": "message", "role": "user", "content": parts}));
                }
            }
            Message::Assistant(content) => {
                items.extend(assistant_text(&Content::join_text(content)))
            }
            Message::Step(step) => {
                let results = results_of_step(messages, index);
                write_step(step, &results, tools, &searches, &mut ids, &mut items);
            }
            // Results are written with their step; the API rejects others.
            _ => {}
        }
    }
    items
}

/// The response to an approval request of a hosted tool.
pub(crate) fn approval_response(id: &str, approve: bool, reason: Option<&str>) -> Value {
    let item = object([
        ("type", "mcp_approval_response".into()),
        ("approval_request_id", id.into()),
        ("approve", approve.into()),
        ("reason", reason.into()),
    ]);
    item.into()
}

/// The API rejects longer ids.
const MAX_ID_BYTES: usize = 64;

fn write_step(
    step: &Step,
    results: &[&ToolResult],
    tools: &ToolPlan,
    searches: &SearchResults<'_>,
    ids: &mut UniqueCallIds,
    items: &mut Vec<Value>,
) {
    let result_of = |id: &str| results.iter().copied().find(|result| result.call_id == *id);
    let mut outputs = Vec::new();
    let before = items.len();
    for item in &step.items {
        match &item.kind {
            ItemKind::Call { call } if searches.is_search(call) => {
                let id = ids.unique_id(call.id.as_str(), MAX_ID_BYTES);
                items.push(tool_search::search_call(raw_item(item), call, &id, tools));
                let found = result_of(call.id.as_str()).map(|result| searches.found(result));
                let found = found.unwrap_or_default();
                outputs.push(tool_search::search_output(&id, &found, tools));
            }
            ItemKind::Call { call } => {
                let id = ids.unique_id(call.id.as_str(), MAX_ID_BYTES);
                let raw = raw_item(item).filter(|raw| is_accepted_call(raw, tools));
                let mut sent = raw.unwrap_or_else(|| new_call(tools.lower(call.clone()), tools));
                set_valid_id_and_name(&mut sent, &id);
                let output_type = match is_type(&sent, CUSTOM_CALL) {
                    true => "custom_tool_call_output",
                    false => "function_call_output",
                };
                items.push(sent);
                let result = result_of(call.id.as_str());
                let output = result.map_or_else(|| json!(MISSING_RESULT_TEXT), call_output);
                outputs.push(json!({"type": output_type, "call_id": id, "output": output}));
            }
            ItemKind::HostedApproval { id, .. } => {
                let Some(request) = raw_item(item) else {
                    continue;
                };
                items.push(request);
                outputs.push(match result_of(id) {
                    Some(result) if result.outcome == Outcome::Ok => {
                        approval_response(id, true, None)
                    }
                    Some(result) => {
                        let reason = result.text();
                        let reason = Some(&*reason).filter(|reason| !reason.is_empty());
                        approval_response(id, false, reason)
                    }
                    None => approval_response(id, false, Some(MISSING_DECISION_TEXT)),
                });
            }
            ItemKind::Reasoning { .. } => {
                items.extend(raw_item(item).filter(|_| is_replayable(item)))
            }
            ItemKind::Text { text } | ItemKind::Refusal { text } => {
                items.extend(raw_item(item).or_else(|| assistant_text(text)));
            }
            _ => items.extend(raw_item(item)),
        }
    }
    // The API rejects reasoning without a following item, as in a truncated response.
    while items.len() > before && items.last().is_some_and(is_reasoning) {
        items.pop();
    }
    items.append(&mut outputs);
}

/// Writes a call that this API has not sent, or in a form that the request does not accept.
fn new_call(call: ToolCall, tools: &ToolPlan) -> Value {
    match tools.custom_input(&call) {
        Some(input) => json!({"type": CUSTOM_CALL, "name": call.name, "input": input}),
        None => json!({"type": "function_call", "name": call.name, "arguments": call.arguments}),
    }
}

/// Sets the id that the call's result has, and a valid name.
fn set_valid_id_and_name(call: &mut Value, id: &str) {
    let is_custom = is_type(call, CUSTOM_CALL);
    let Some(fields) = call.as_object_mut() else {
        return;
    };
    let name = fields.get("name").and_then(Value::as_str);
    let name = valid_tool_name(name.unwrap_or_default());
    fields.insert("call_id".to_owned(), id.into());
    fields.insert("name".to_owned(), name.into());
    if is_custom {
        // Responses have it, but the type of requests does not.
        fields.shift_remove("status");
    }
}

/// Sent for a missing result.
const MISSING_RESULT_TEXT: &str = "Error: this call has no result; whether it ran is not known.";

/// Sent as the reason if an approval request has no decision.
const MISSING_DECISION_TEXT: &str = "nobody decided";

fn raw_item(item: &Item) -> Option<Value> {
    raw_fields(NAME, item)
}

/// Returns true if reasoning has content: the vendor stores nothing, so its id alone means nothing.
fn is_replayable(item: &Item) -> bool {
    raw_fields::<wire::Item>(NAME, item).is_some_and(|item| {
        !item.encrypted_content.is_empty() || item.content.is_some_and(|parts| !parts.is_empty())
    })
}

/// Returns false for a search in the API's own form, which only a request with that form of search accepts, and for a call of a
/// custom tool if the model does not call such tools.
fn is_accepted_call(item: &Value, tools: &ToolPlan) -> bool {
    is_type(item, "function_call") || is_type(item, CUSTOM_CALL) && tools.has_custom_tools()
}

fn is_reasoning(item: &Value) -> bool {
    is_type(item, "reasoning")
}

fn is_type(item: &Value, kind: &str) -> bool {
    item.get("type").and_then(Value::as_str) == Some(kind)
}

/// Text of the assistant without raw JSON; `None` if it is empty.
fn assistant_text(text: &str) -> Option<Value> {
    // A list of parts would require the id of a real response; text does not.
    (!text.is_empty()).then(|| json!({"type": "message", "role": "assistant", "content": text}))
}

/// The output of a call. The API has no field for errors: a prefix marks them.
fn call_output(result: &ToolResult) -> Value {
    let only_text = |content: &Content| matches!(content, Content::Text { .. });
    if result.content.iter().all(only_text) {
        let text = result.text();
        return if result.is_error() {
            json!(format!("{ERROR_PREFIX}{text}"))
        } else {
            json!(text)
        };
    }
    let failed = result.is_error().then(|| text_part(ERROR_PREFIX.trim_end()));
    let parts = result.content.iter().map(content_part);
    Value::Array(failed.into_iter().chain(parts).collect())
}

/// The prefix of an error's text.
const ERROR_PREFIX: &str = "Error: ";

/// One part of a message or of a call's output.
fn content_part(content: &Content) -> Value {
    let media = match content {
        Content::Image { data, mime_type } => media_part("image", mime_type, data, ""),
        Content::Audio { data, mime_type } => media_part("audio", mime_type, data, ""),
        Content::Resource { resource } => match (&resource.text, &resource.blob) {
            (None, Some(blob)) => {
                let mime_type = resource.mime_type.as_deref().unwrap_or_default();
                media_part("resource", mime_type, blob, &resource.uri)
            }
            _ => None,
        },
        _ => None,
    };
    media.unwrap_or_else(|| text_part(&content.to_text()))
}

/// A part for binary data, if the API supports its type; `default_name` is used for a file without a name.
fn media_part(default_name: &str, mime_type: &str, data: &str, uri: &str) -> Option<Value> {
    // Without parameters, as in `text/csv; charset=utf-8`.
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    let data_url = || format!("data:{essence};base64,{data}");
    if IMAGE_TYPES.contains(&essence.as_str()) {
        return Some(json!({"type": "input_image", "detail": "auto", "image_url": data_url()}));
    }
    (FILE_TYPES.contains(&essence.as_str()) || essence.starts_with("text/")).then(|| {
        let name = uri.rsplit('/').find(|part| !part.is_empty()).unwrap_or(default_name);
        json!({"type": "input_file", "filename": name, "file_data": data_url()})
    })
}

/// The image types that the API accepts.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The file types that the API accepts, besides `text/*`.
const FILE_TYPES: [&str; 13] = [
    "application/pdf",
    "application/json",
    "application/xml",
    "application/rtf",
    "application/csv",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.oasis.opendocument.text",
    "application/javascript",
];

fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}
