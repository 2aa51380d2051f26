//! Requests and responses without a network.

mod custom_tools;
mod errors;
mod random;
mod requests;
mod streams;

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{Item, ModelError, ModelEvent, ModelId, Step, StopReason, Usage};
use toolwright_core::wire::ToolPlan;

use super::{OpenAiChat, Quirks};
use crate::protocol::tests::{finished, items, kinds, parse_response, plan_tools};

const OPENAI: OpenAiChat = OpenAiChat { vendor: "openai-chat", quirks: Quirks::OPENAI };

const MISTRAL: OpenAiChat = OpenAiChat { vendor: "mistral", quirks: Quirks::MISTRAL };

const DEEPSEEK: OpenAiChat = OpenAiChat { vendor: "deepseek", quirks: Quirks::DEEPSEEK };

const COMPATIBLE: OpenAiChat = OpenAiChat { vendor: "vllm", quirks: Quirks::TOGETHER };

const OPENROUTER: OpenAiChat = OpenAiChat { vendor: "openrouter", quirks: Quirks::OPENROUTER };

/// A plan of one tool with a name that the API rejects and an optional parameter.
fn plan() -> Arc<ToolPlan> {
    let text = json!([{
        "name": "weather.now",
        "description": "Tells the weather.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string"},
            },
            "required": ["city"],
            "additionalProperties": false,
        },
    }]);
    plan_tools(&OPENAI, &text.to_string())
}

fn no_tools() -> Arc<ToolPlan> {
    plan_tools(&OPENAI, "[]")
}

/// Parses the frames of a complete response.
fn parse_frames<T: AsRef<str>>(frames: &[T]) -> Result<Vec<ModelEvent>, ModelError> {
    let frames = frames.iter().map(|frame| ("", frame.as_ref()));
    parse_response(&OPENAI, plan(), frames)
}

/// A chunk with this delta.
fn delta(delta: Value) -> String {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}],
    })
    .to_string()
}

/// The chunk that ends the message.
fn finish(reason: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string()
}

fn done() -> String {
    "[DONE]".to_owned()
}

fn raws(events: &[ModelEvent]) -> Vec<Value> {
    let raws = items(events).into_iter().map(|item| {
        let raw = item.raw_json("openai_chat").expect("a raw part");
        serde_json::from_str(raw.get()).expect("JSON")
    });
    raws.collect()
}

/// The streamed events, without the items.
fn streamed(events: &[ModelEvent]) -> Vec<String> {
    let shown = events.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(format!("text {text}")),
        ModelEvent::Reasoning(text) => Some(format!("thought {text}")),
        ModelEvent::CallBegins { index, id, name } => Some(format!("call {index} {id} {name}")),
        ModelEvent::CallDelta { index, delta } => Some(format!("more {index} {delta}")),
        _ => None,
    });
    shown.collect()
}

fn step(items: Vec<Item>) -> Step {
    let model = ModelId::new("openai-chat", "m");
    Step::new(model, items, StopReason::End, Usage::default())
}
