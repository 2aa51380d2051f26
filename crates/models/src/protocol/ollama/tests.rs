//! Requests and responses without a network.

mod errors;
mod random;
mod requests;
mod streams;

use std::sync::Arc;

use toolwright_chat::{ItemKind, ModelError, ModelEvent};
use toolwright_core::wire::ToolPlan;

use super::Ollama;
use crate::protocol::tests::{calls, finished, items, kinds, parse_response, plan_tools};

/// Two tools, one with a name that has to be changed on the wire.
fn plan() -> Arc<ToolPlan> {
    let text = r#"[
        {"name": "weather", "description": "Tells the weather.", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
        {"name": "shop/find", "description": "Finds an article.", "parameters":
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
    ]"#;
    plan_tools(&Ollama, text)
}

fn no_tools() -> Arc<ToolPlan> {
    plan_tools(&Ollama, "[]")
}

/// Parses the lines of a complete response.
fn parse_lines(lines: &[&str]) -> Result<Vec<ModelEvent>, ModelError> {
    let frames = lines.iter().map(|line| ("", *line));
    parse_response(&Ollama, plan(), frames)
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

fn text(text: &str) -> ItemKind {
    ItemKind::Text { text: text.into() }
}
