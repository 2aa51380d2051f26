//! Writes the content of messages and results as parts.

use serde_json::{Value, json};
use toolwright_core::{Content, StructuredContent, ToolResult};

/// The media types that a result may contain.
const RESULT_MEDIA_TYPES: [&str; 5] =
    ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

/// The largest integer that the API preserves exactly.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// The content of a message as parts.
pub(super) fn content_parts(items: &[Content]) -> Vec<Value> {
    let parts = items.iter().filter_map(|item| match inline_data(item) {
        Some((mime, data)) if is_media(mime) => Some(inline_data_part(mime, data)),
        // The API rejects an empty part.
        _ => Some(item.to_text()).filter(|text| !text.is_empty()).map(text_part),
    });
    parts.collect()
}

/// The content of a result: an object, and images and documents as parts.
pub(super) fn result_response(result: &ToolResult, accepts_media: bool) -> (Value, Vec<Value>) {
    let mut media = Vec::new();
    let mut texts = Vec::new();
    for item in &result.content {
        match inline_data(item) {
            Some((mime, data)) if accepts_media && RESULT_MEDIA_TYPES.contains(&mime) => {
                media.push(inline_data_part(mime, data));
            }
            _ => texts.push(item.to_text()),
        }
    }
    if result.is_error() {
        return (json!({"error": texts.join("\n")}), media);
    }
    let structured = result.structured.as_ref().map(StructuredContent::to_value);
    let value = structured.filter(is_preserved).unwrap_or_else(|| Value::String(texts.join("\n")));
    (json!({"result": value}), media)
}

pub(super) fn text_part(text: impl Into<String>) -> Value {
    json!({"text": text.into()})
}

fn inline_data_part(mime: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": mime, "data": data}})
}

/// Returns true if the API preserves a value: it interprets `$ref`, and parses all numbers as floating point.
fn is_preserved(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.iter().all(|(name, value)| name != "$ref" && is_preserved(value))
        }
        Value::Array(items) => items.iter().all(is_preserved),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number <= MAX_EXACT_INTEGER,
            (None, Some(number)) => number.unsigned_abs() <= MAX_EXACT_INTEGER,
            (None, None) => true,
        },
        _ => true,
    }
}

/// Returns true if models accept this media type.
fn is_media(mime: &str) -> bool {
    let kind = mime.split('/').next().unwrap_or_default();
    matches!(kind, "image" | "audio" | "video" | "text") || mime == "application/pdf"
}

/// The MIME type and the base64 data of an item.
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
