//! Requests and responses without a network.

mod errors;
mod random;
mod requests;
mod streams;

use std::sync::Arc;

use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::{ToolDefinition, ToolPlan, ToolPlanner, import_definitions};

use super::Ollama;
use crate::protocol::Protocol as _;

/// Two tools, one with a name that has to be changed on the wire.
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
        ToolPlanner::new(Ollama.dialect())
            .shape(Ollama.tool_shape())
            .plan(&tools),
    )
}

fn no_tools() -> Arc<ToolPlan> {
    let none: [&ToolDefinition; 0] = [];
    Arc::new(ToolPlanner::new(Ollama.dialect()).plan(none))
}

/// Parses the lines of a complete response.
fn parse_lines(lines: &[&str]) -> Result<Vec<ModelEvent>, ModelError> {
    let mut reader = Ollama.parser(plan());
    let mut events = Vec::new();
    for line in lines {
        events.extend(reader.parse_frame("", line)?);
    }
    events.extend(reader.end_of_stream()?);
    Ok(events)
}

/// A line with a delta of the message.
fn line(message: &str) -> String {
    format!(
        r#"{{"model":"qwen3","created_at":"2026-11-15T12:00:00.5Z","message":{{"role":"assistant",{message}}},"done":false}}"#
    )
}

/// The last line.
const DONE: &str = r#"{"model":"qwen3","created_at":"2026-11-15T12:00:01Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5,"prompt_eval_count":11,"eval_count":7}"#;

/// Parses a response whose calls are in one line.
fn parse_calls(entries: &str) -> Vec<ModelEvent> {
    let line = line(&format!(r#""content":"","tool_calls":[{entries}]"#));
    parse_lines(&[&line, DONE]).unwrap()
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

fn finished(events: &[ModelEvent]) -> (StopReason, Usage) {
    match events.last() {
        Some(ModelEvent::Finished { stop, usage }) => (stop.clone(), *usage),
        other => panic!("the last event is {other:?}"),
    }
}

fn text(text: &str) -> ItemKind {
    ItemKind::Text { text: text.into() }
}
