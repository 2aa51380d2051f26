//! Writes content as the parts of a message.

use serde_json::{Value, json};
use toolwright_core::Content;

use crate::protocol::openai_chat::Quirks;

pub(super) fn content_parts(contents: &[Content], quirks: &Quirks) -> Vec<Value> {
    contents.iter().map(|content| content_part(content, quirks)).collect()
}

/// Writes content; a type that the vendor does not support becomes a text that describes it.
pub(super) fn content_part(content: &Content, quirks: &Quirks) -> Value {
    media_part(content, quirks).unwrap_or_else(|| text_part(&content.to_text()))
}

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The content of a message: one string if all parts are text, because some servers do not accept lists.
pub(super) fn joined_if_text(parts: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> =
        parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    match texts {
        Some(texts) => texts.join("\n").into(),
        None => parts.into(),
    }
}

/// A part for content that is not text, if the vendor supports its type.
fn media_part(content: &Content, quirks: &Quirks) -> Option<Value> {
    match content {
        Content::Image { data, mime_type } => Some(image_part(mime_type, data)),
        Content::Audio { data, mime_type } if quirks.accepts_audio => {
            let format = match mime_type.as_str() {
                "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                "audio/mpeg" | "audio/mp3" => "mp3",
                _ => return None,
            };
            Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
        }
        Content::Resource { resource } => {
            let (kind, data) = (resource.mime_type.as_deref()?, resource.blob.as_deref()?);
            if kind.starts_with("image/") {
                return Some(image_part(kind, data));
            }
            let name = resource.uri.rsplit('/').next().unwrap_or_default();
            (quirks.accepts_files && kind == "application/pdf").then(|| {
                let data = format!("data:{kind};base64,{data}");
                json!({"type": "file", "file": {"filename": name, "file_data": data}})
            })
        }
        _ => None,
    }
}

fn image_part(mime_type: &str, data: &str) -> Value {
    let url = format!("data:{mime_type};base64,{data}");
    json!({"type": "image_url", "image_url": {"url": url}})
}
