//! Requests and responses without a network.

mod errors;
mod random;
mod requests;
mod streams;

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, ModelId, Step, StopReason, Usage};
use toolwright_core::schema::Dialect;
use toolwright_core::wire::{self, Shape, ToolPlan, ToolPlanner};

use super::{OpenAiChat, Quirks};
use crate::protocol::Protocol as _;

const OPENAI: OpenAiChat = OpenAiChat {
    vendor: "openai-chat",
    dialect: Dialect::OPENAI,
    quirks: Quirks::OPENAI,
};

const MISTRAL: OpenAiChat = OpenAiChat {
    vendor: "mistral",
    dialect: Dialect::MISTRAL,
    quirks: Quirks::MISTRAL,
};

const DEEPSEEK: OpenAiChat = OpenAiChat {
    vendor: "deepseek",
    dialect: Dialect::DEEPSEEK,
    quirks: Quirks::DEEPSEEK,
};

const COMPATIBLE: OpenAiChat = OpenAiChat {
    vendor: "vllm",
    dialect: Dialect::PORTABLE,
    quirks: Quirks::COMPATIBLE,
};

const OPENROUTER: OpenAiChat = OpenAiChat {
    vendor: "openrouter",
    dialect: Dialect::PORTABLE,
    quirks: Quirks::OPENROUTER,
};

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
    let tools: Vec<_> = wire::import_definitions(&text.to_string())
        .expect("a list of tools")
        .into_iter()
        .map(|tool| tool.expect("a tool"))
        .collect();
    let planner = ToolPlanner::new(Dialect::OPENAI).shape(Shape::OpenAiChat);
    Arc::new(planner.plan(tools.iter()))
}

fn no_tools() -> Arc<ToolPlan> {
    let planner = ToolPlanner::new(Dialect::OPENAI).shape(Shape::OpenAiChat);
    let none: [&wire::ToolDefinition; 0] = [];
    Arc::new(planner.plan(none))
}

/// Parses the frames of a complete response.
fn parse_frames<T: AsRef<str>>(frames: &[T]) -> Result<Vec<ModelEvent>, ModelError> {
    let mut reader = OPENAI.parser(plan());
    let mut events = Vec::new();
    for frame in frames {
        events.extend(reader.parse_frame("", frame.as_ref())?);
    }
    events.extend(reader.end_of_stream()?);
    Ok(events)
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

fn raws(events: &[ModelEvent]) -> Vec<Value> {
    let raws = items(events).into_iter().map(|item| {
        let raw = item.raw_json("openai_chat").expect("a raw part");
        serde_json::from_str(raw.get()).expect("JSON")
    });
    raws.collect()
}

fn finished(events: &[ModelEvent]) -> (StopReason, Usage) {
    match events.last() {
        Some(ModelEvent::Finished { stop, usage }) => (stop.clone(), *usage),
        other => panic!("the answer ends with {other:?}"),
    }
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
