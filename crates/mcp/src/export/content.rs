//! Content in, its JSON in a revision out.

use serde_json::{Value, json};
use toolwright_core::Content;

use crate::server::{Revision, write_json};

/// Writes one item; kinds that the revision lacks become a resource or text.
pub(crate) fn write_content(body: &mut Vec<u8>, item: &Content, revision: Revision) {
    match item {
        // Most items are text, so it has a fast path.
        Content::Text { text } => {
            body.extend_from_slice(br#"{"type":"text","text":"#);
            super::json_string::write_json_string(body, text);
            body.push(b'}');
        }
        Content::Audio { data, mime_type } if !revision.has_audio() => {
            let uri = format!("data:{mime_type}");
            let resource = json!({ "uri": uri, "mimeType": mime_type, "blob": data });
            write_json(body, &json!({ "type": "resource", "resource": resource }));
        }
        Content::Link { uri, name, .. } if !revision.has_structured_content() => {
            write_json(body, &json!({ "type": "text", "text": format!("{name}: {uri}") }));
        }
        item => write_json(body, item),
    }
}

/// Converts one item to the `contents` of `resources/read`.
pub(crate) fn resource_contents(item: &Content, uri: &str, mime_type: Option<&str>) -> Value {
    let mut contents = match item {
        Content::Text { text } => json!({ "uri": uri, "text": text }),
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
            json!({ "uri": uri, "mimeType": mime_type, "blob": data })
        }
        Content::Resource { resource } => serde_json::to_value(resource).unwrap_or_default(),
        Content::Link { uri: target, .. } => json!({ "uri": uri, "text": target }),
        _ => json!({ "uri": uri, "text": "" }),
    };
    if let (Some(mime_type), Value::Object(contents)) = (mime_type, &mut contents) {
        let entry = contents.entry("mimeType");
        entry.or_insert_with(|| mime_type.into());
    }
    contents
}
