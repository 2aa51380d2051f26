//! Requests and responses without a network.

mod errors;
mod random;
mod requests;
mod streams;

use std::sync::Arc;

use serde_json::Value;
use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::{ToolPlan, ToolPlanner, import_definitions};

use super::Gemini;
use crate::protocol::Protocol as _;

/// Two tools, one with a name that the API rejects.
fn plan() -> Arc<ToolPlan> {
    let text = r#"[
        {"name": "weather", "description": "Tells the weather.", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
        {"name": "shop/find", "description": "Finds an article.", "parameters":
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
    ]"#;
    let tools: Vec<_> = import_definitions(text)
        .unwrap()
        .into_iter()
        .map(Result::unwrap)
        .collect();
    Arc::new(
        ToolPlanner::new(Gemini.dialect())
            .shape(Gemini.tool_shape())
            .plan(&tools),
    )
}

fn no_tools() -> Arc<ToolPlan> {
    let none: [&toolwright_core::wire::ToolDefinition; 0] = [];
    Arc::new(ToolPlanner::new(Gemini.dialect()).plan(none))
}

/// Parses the chunks of a complete response.
fn parse_chunks(chunks: &[&str]) -> Result<Vec<ModelEvent>, ModelError> {
    let mut reader = Gemini.parser(plan());
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(reader.parse_frame("", chunk)?);
    }
    events.extend(reader.end_of_stream()?);
    Ok(events)
}

/// A chunk with these parts; the last one if it has a finish reason.
fn chunk(parts: &str, finish: Option<&str>) -> String {
    let finish = finish.map_or(String::new(), |reason| {
        format!(r#","finishReason":"{reason}""#)
    });
    format!(
        r#"{{"candidates":[{{"content":{{"parts":{parts},"role":"model"}}{finish},"index":0}}],"responseId":"r7"}}"#
    )
}

/// Parses a response of one chunk.
fn parse_parts(parts: &str) -> Vec<ModelEvent> {
    parse_chunks(&[&chunk(parts, Some("STOP"))]).unwrap()
}

fn items(events: &[ModelEvent]) -> Vec<Item> {
    let items = events.iter().filter_map(|event| match event {
        ModelEvent::Item(item) => Some(item.clone()),
        _ => None,
    });
    items.collect()
}

fn kinds(events: &[ModelEvent]) -> Vec<ItemKind> {
    items(events).into_iter().map(|item| item.kind).collect()
}

fn calls(events: &[ModelEvent]) -> Vec<ToolCall> {
    let calls = kinds(events).into_iter().filter_map(|kind| match kind {
        ItemKind::Call { call } => Some(call),
        _ => None,
    });
    calls.collect()
}

fn raws(events: &[ModelEvent]) -> Vec<Value> {
    let raws = items(events)
        .into_iter()
        .filter_map(|item| serde_json::from_str(item.raw_json(Gemini::NAME)?.get()).ok());
    raws.collect()
}

fn finished(events: &[ModelEvent]) -> (StopReason, Usage) {
    match events.last() {
        Some(ModelEvent::Finished { stop, usage }) => (stop.clone(), *usage),
        other => panic!("the last event is {other:?}"),
    }
}

fn text(text: &str) -> ItemKind {
    ItemKind::Text { text: text.into() }
}
