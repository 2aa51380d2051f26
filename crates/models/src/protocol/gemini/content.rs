//! Contents of messages and results in, parts out.

use serde_json::{Value, json};
use toolwright_core::{Content, StructuredContent, ToolResult};

/// What a result may carry besides text.
const RESULT_MEDIA_TYPES: [&str; 5] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "application/pdf",
    "text/plain",
];

/// The largest whole number that the API keeps exactly.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// What a message says, as parts.
pub(super) fn content_parts(items: &[Content]) -> Vec<Value> {
    let parts = items.iter().filter_map(|item| match inline_data(item) {
        Some((mime, data)) if is_media(mime) => Some(inline_data_part(mime, data)),
        // An empty part is refused.
        _ => Some(item.to_text())
            .filter(|text| !text.is_empty())
            .map(text_part),
    });
    parts.collect()
}

/// What a result says: an object, and the pictures and documents beside it.
pub(super) fn result_response(result: &ToolResult, sees: bool) -> (Value, Vec<Value>) {
    let mut media = Vec::new();
    let mut texts = Vec::new();
    for item in &result.content {
        match inline_data(item) {
            Some((mime, data)) if sees && RESULT_MEDIA_TYPES.contains(&mime) => {
                media.push(inline_data_part(mime, data));
            }
            _ => texts.push(item.to_text()),
        }
    }
    if result.is_error() {
        return (json!({"error": texts.join("\n")}), media);
    }
    let structured = result.structured.as_ref().map(StructuredContent::to_value);
    let value = structured
        .filter(is_preserved)
        .unwrap_or_else(|| Value::String(texts.join("\n")));
    (json!({"result": value}), media)
}

pub(super) fn text_part(text: impl Into<String>) -> Value {
    json!({"text": text.into()})
}

fn inline_data_part(mime: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": mime, "data": data}})
}

/// Whether the API keeps a value as it is: a `$ref` it reads itself, and all numbers it reads as floating.
fn is_preserved(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .all(|(name, value)| name != "$ref" && is_preserved(value)),
        Value::Array(items) => items.iter().all(is_preserved),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number <= MAX_EXACT_INTEGER,
            (None, Some(number)) => number.unsigned_abs() <= MAX_EXACT_INTEGER,
            (None, None) => true,
        },
        _ => true,
    }
}

/// Whether models read bytes of this type.
fn is_media(mime: &str) -> bool {
    let kind = mime.split('/').next().unwrap_or_default();
    matches!(kind, "image" | "audio" | "video" | "text") || mime == "application/pdf"
}

/// The bytes of an item, in base64, and what they are.
fn inline_data(item: &Content) -> Option<(&str, &str)> {
    match item {
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
            Some((mime_type, data))
        }
        Content::Resource { resource } => {
            Some((resource.mime_type.as_deref()?, resource.blob.as_deref()?))
        }
        _ => None,
    }
}
