//! Writes content as text and images: the API supports nothing else.

use serde_json::Value;
use toolwright_core::Content;

use crate::protocol::json::{JsonObject, object, unless_empty};

/// A message with this role and content.
pub(super) fn message_with_content(role: &str, items: &[Content]) -> JsonObject {
    let mut images: Vec<Value> = Vec::new();
    let mut texts = Vec::new();
    for item in items {
        match image_data(item) {
            Some(data) => images.push(data.into()),
            None => texts.push(item.to_text()),
        }
    }
    object([
        ("role", role.into()),
        ("content", texts.join("\n").into()),
        ("images", unless_empty(images)),
    ])
}

/// The base64 data of an image.
fn image_data(item: &Content) -> Option<&str> {
    match item {
        Content::Image { data, .. } => Some(data),
        Content::Resource { resource } => {
            let mime = resource.mime_type.as_deref()?;
            resource.blob.as_deref().filter(|_| mime.starts_with("image/"))
        }
        _ => None,
    }
}
