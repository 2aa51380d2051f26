//! Writes the content of messages and results as content blocks.

use serde_json::{Value, json};
use toolwright_core::wire::PlannedTool;
use toolwright_core::{Content, Outcome, ResourceContents, ToolResult};

use crate::protocol::json::object;

/// The image types that the API accepts.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Content of a user or a tool: texts, images and PDF documents; other types become a text that describes them.
pub(super) fn content_blocks(content: &[Content]) -> Vec<Value> {
    let media = |item: &Content| match item {
        Content::Image { data, mime_type } => image_block(data, mime_type),
        Content::Resource { resource } => resource_block(resource),
        _ => None,
    };
    let block = |item: &Content| media(item).or_else(|| description_block(item));
    content.iter().filter_map(block).collect()
}

/// Content of the assistant, of which the API accepts only text.
pub(super) fn text_blocks(content: &[Content]) -> Vec<Value> {
    content.iter().filter_map(description_block).collect()
}

/// A text block; `None` if the text is blank, which the API rejects.
pub(super) fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// The result of a call, or an error if it is missing: the API rejects a call without its result.
pub(super) fn tool_result_block(id: &str, result: Option<&ToolResult>) -> Value {
    let content = match result {
        Some(result) => result_content(result),
        None => "there is no result: the call was never answered".into(),
    };
    let block = object([
        ("type", "tool_result".into()),
        ("tool_use_id", id.into()),
        ("content", content),
        ("is_error", result.is_none_or(ToolResult::is_error).then_some(true).into()),
    ]);
    block.into()
}

/// The result of a search for tools: the API loads the definitions of these. Beside a reference there is no other content.
pub(super) fn tool_references_block(id: &str, found: &[&PlannedTool]) -> Value {
    let reference =
        |tool: &&PlannedTool| json!({"type": "tool_reference", "tool_name": tool.wire_name});
    let content: Vec<Value> = found.iter().map(reference).collect();
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

fn result_content(result: &ToolResult) -> Value {
    if let [Content::Text { text }] = result.content.as_slice()
        && !text.trim().is_empty()
    {
        return text.as_str().into();
    }
    let blocks = content_blocks(&result.content);
    match &result.structured {
        _ if !blocks.is_empty() => blocks.into(),
        Some(structured) => structured.as_str().into(),
        // The API rejects an error without content.
        None if result.outcome != Outcome::Ok => "the tool did not say what went wrong".into(),
        None => "".into(),
    }
}

fn image_block(data: &str, mime_type: &str) -> Option<Value> {
    IMAGE_TYPES.contains(&mime_type).then(|| {
        let source = json!({"type": "base64", "media_type": mime_type, "data": data});
        json!({"type": "image", "source": source})
    })
}

/// A block for a binary resource, if the API supports its type.
fn resource_block(resource: &ResourceContents) -> Option<Value> {
    let data = resource.blob.as_deref()?;
    let mime_type = resource.mime_type.as_deref()?;
    if mime_type == "application/pdf" {
        let source = json!({"type": "base64", "media_type": mime_type, "data": data});
        return Some(json!({"type": "document", "source": source}));
    }
    image_block(data, mime_type)
}

fn description_block(item: &Content) -> Option<Value> {
    text_block(&item.to_text())
}
