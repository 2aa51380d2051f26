//! Requests and responses without a network.

mod errors;
mod random;
mod requests;
mod streams;

use std::sync::Arc;

use serde_json::Value;
use toolwright_chat::{ItemKind, ModelError, ModelEvent};
use toolwright_core::wire::ToolPlan;

use super::{Gemini, NAME};
use crate::protocol::tests::{calls, finished, items, kinds, parse_response, plan_tools};

/// Two tools, one with a name that the API rejects.
fn plan() -> Arc<ToolPlan> {
    let text = r#"[
        {"name": "weather", "description": "Tells the weather.", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
        {"name": "shop/find", "description": "Finds an article.", "parameters":
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
    ]"#;
    plan_tools(&Gemini, text)
}

fn no_tools() -> Arc<ToolPlan> {
    plan_tools(&Gemini, "[]")
}

/// Parses the chunks of a complete response.
fn parse_chunks(chunks: &[&str]) -> Result<Vec<ModelEvent>, ModelError> {
    let frames = chunks.iter().map(|chunk| ("", *chunk));
    parse_response(&Gemini, plan(), frames)
}

/// A chunk with these parts; the last one if it has a finish reason.
fn chunk(parts: &str, finish: Option<&str>) -> String {
    let finish = finish.map_or(String::new(), |reason| format!(r#","finishReason":"{reason}""#));
    format!(
        r#"{{"candidates":[{{"content":{{"parts":{parts},"role":"model"}}{finish},"index":0}}],"responseId":"r7"}}"#
    )
}

/// Parses a response of one chunk.
fn parse_parts(parts: &str) -> Vec<ModelEvent> {
    parse_chunks(&[&chunk(parts, Some("STOP"))]).unwrap()
}

fn raws(events: &[ModelEvent]) -> Vec<Value> {
    let raws = items(events)
        .into_iter()
        .filter_map(|item| serde_json::from_str(item.raw_json(NAME)?.get()).ok());
    raws.collect()
}

fn text(text: &str) -> ItemKind {
    ItemKind::Text { text: text.into() }
}
