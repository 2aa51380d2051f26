//! Writes content as the parts of a message.

use serde_json::{Value, json};
use toolwright_core::Content;

use crate::protocol::openai_chat::Quirks;

/// The content parts of a message.
#[derive(Debug, Default)]
pub(super) struct ContentParts(Vec<Value>);

impl ContentParts {
    /// Writes content; types that the vendor does not support become a text that describes them.
    pub(super) fn from_contents(contents: &[Content], quirks: &Quirks) -> Self {
        let mut parts = Self::default();
        parts.extend(contents, quirks);
        parts
    }

    pub(super) fn extend(&mut self, contents: &[Content], quirks: &Quirks) {
        for content in contents {
            self.push_content(content, quirks);
        }
    }

    pub(super) fn push_text(&mut self, text: &str) {
        self.0.push(json!({"type": "text", "text": text}));
    }

    pub(super) fn push_content(&mut self, content: &Content, quirks: &Quirks) {
        match media_part(content, quirks) {
            Some(part) => self.0.push(part),
            None => self.push_text(&content.to_text()),
        }
    }

    /// The content of a message: one string if all parts are text, because some servers do not accept lists.
    pub(super) fn into_content(self) -> Value {
        let texts: Option<Vec<&str>> =
            self.0.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
        match texts {
            Some(texts) => texts.join("\n").into(),
            None => self.0.into(),
        }
    }

    pub(super) fn into_vec(self) -> Vec<Value> {
        self.0
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
