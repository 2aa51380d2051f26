//! What has been said in, the `input` items of a request out.
//!
//! Each call is followed by its result and each approval request by its answer: the API refuses one without the other.

use serde_json::{Value, json};
use toolwright_chat::{Item, ItemKind, Message, Step};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{Content, Outcome, ToolResult};

use super::{OpenAiResponses, wire};
use crate::protocol::Protocol as _;
use crate::protocol::call_identifiers::{self, UniqueCallIds};

/// Writes the items of a conversation.
pub(super) fn input_items(messages: &[Message], tools: &ToolPlan) -> Vec<Value> {
    let mut items = Vec::new();
    let mut ids = UniqueCallIds::default();
    for (place, message) in messages.iter().enumerate() {
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
                let later = messages.get(place + 1..).unwrap_or_default();
                let results = results_for_step(later);
                write_step(step, &results, tools, &mut ids, &mut items);
            }
            // Written after the step whose calls they answer; a result without its call would be refused.
            Message::Results(_) => {}
            _ => {}
        }
    }
    items
}

/// Answers a hosted tool's request for approval.
pub(crate) fn approval_response(id: &str, approve: bool, reason: Option<&str>) -> Value {
    let mut item = json!({
        "type": "mcp_approval_response",
        "approval_request_id": id,
        "approve": approve,
    });
    if let (Some(reason), Some(fields)) = (reason, item.as_object_mut()) {
        fields.insert("reason".to_owned(), json!(reason));
    }
    item
}

/// The results between a step and the next one.
fn results_for_step(later: &[Message]) -> Vec<&ToolResult> {
    let until = later
        .iter()
        .take_while(|message| !matches!(message, Message::Step(_)));
    let results = until.filter_map(|message| match message {
        Message::Results(results) => Some(results),
        _ => None,
    });
    results.flatten().collect()
}

/// Longer ids are refused.
const MAX_ID_BYTES: usize = 64;

fn write_step(
    step: &Step,
    results: &[&ToolResult],
    tools: &ToolPlan,
    ids: &mut UniqueCallIds,
    items: &mut Vec<Value>,
) {
    let result_of = |id: &str| results.iter().copied().find(|result| result.call_id == *id);
    let mut answers = Vec::new();
    let before = items.len();
    for item in &step.items {
        match &item.kind {
            ItemKind::Call { call } => {
                let id = ids.unique_id(call.id.as_str(), MAX_ID_BYTES);
                let mut told = raw_item(item).unwrap_or_else(|| {
                    let call = tools.lower(call.clone());
                    json!({
                        "type": "function_call",
                        "call_id": id,
                        "name": call.name,
                        "arguments": call.arguments,
                    })
                });
                set_valid_id_and_name(&mut told, &id);
                items.push(told);
                let result = result_of(call.id.as_str());
                let output = result.map_or_else(|| json!(MISSING_RESULT_TEXT), call_output);
                answers.push(json!({
                    "type": "function_call_output",
                    "call_id": id,
                    "output": output,
                }));
            }
            ItemKind::HostedApproval { id, .. } => {
                let Some(request) = raw_item(item) else {
                    continue;
                };
                items.push(request);
                answers.push(match result_of(id) {
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
    // Reasoning that nothing follows, as when an answer was cut off, is refused.
    while items.len() > before && items.last().is_some_and(is_reasoning) {
        items.pop();
    }
    items.append(&mut answers);
}

/// Gives a call the id that its result goes by, and a name that is not refused.
fn set_valid_id_and_name(call: &mut Value, id: &str) {
    let Some(fields) = call.as_object_mut() else {
        return;
    };
    let name = fields.get("name").and_then(Value::as_str);
    let name = call_identifiers::valid_tool_name(name.unwrap_or_default()).into_owned();
    fields.insert("call_id".to_owned(), id.into());
    fields.insert("name".to_owned(), name.into());
}

/// Stands for the result that a call never got.
const MISSING_RESULT_TEXT: &str = "Error: this call has no result; whether it ran is not known.";

/// Stands for the decision that nobody took.
const MISSING_DECISION_TEXT: &str = "nobody decided";

fn raw_item(item: &Item) -> Option<Value> {
    let raw = item.raw_json(OpenAiResponses::NAME)?;
    serde_json::from_str(raw.get()).ok()
}

/// Whether reasoning says anything by itself: the vendor keeps nothing that its id could stand for.
fn is_replayable(item: &Item) -> bool {
    let raw = item.raw_json(OpenAiResponses::NAME);
    let read = raw.and_then(|raw| serde_json::from_str::<wire::Item>(raw.get()).ok());
    read.is_some_and(|item| {
        item.encrypted_content
            .is_some_and(|content| !content.is_empty())
            || item.content.is_some_and(|parts| !parts.is_empty())
    })
}

fn is_reasoning(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("reasoning")
}

/// The model's words without an item of their own; nothing if there are none.
fn assistant_text(text: &str) -> Option<Value> {
    // A list of parts would need the id of a real answer; text does not.
    (!text.is_empty()).then(|| json!({"type": "message", "role": "assistant", "content": text}))
}

/// What a call came to. The API has no field for failure: the text begins with it.
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
    let failed = result
        .is_error()
        .then(|| text_part(ERROR_PREFIX.trim_end()));
    let parts = result.content.iter().map(content_part);
    Value::Array(failed.into_iter().chain(parts).collect())
}

/// How the text of a failure begins.
const ERROR_PREFIX: &str = "Error: ";

/// One part of a message, or of what a call came to.
fn content_part(content: &Content) -> Value {
    let carried = match content {
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
    carried.unwrap_or_else(|| text_part(&content.to_text()))
}

/// Bytes, if the API carries them.
fn media_part(what: &str, mime_type: &str, data: &str, uri: &str) -> Option<Value> {
    // Parameters, as of `text/csv; charset=utf-8`, do not change what it is.
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    let address = || format!("data:{essence};base64,{data}");
    if IMAGE_TYPES.contains(&essence.as_str()) {
        return Some(json!({"type": "input_image", "detail": "auto", "image_url": address()}));
    }
    (FILE_TYPES.contains(&essence.as_str()) || essence.starts_with("text/")).then(|| {
        let name = uri
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or(what);
        json!({"type": "input_file", "filename": name, "file_data": address()})
    })
}

/// The pictures that the API reads.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The files that the API reads, beside everything that is text.
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
