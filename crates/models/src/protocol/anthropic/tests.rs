//! Requests and responses without a network, and that a response is replayed unchanged.

mod errors;
mod programs;
mod random;
mod replies;
mod requests;
mod streams;

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, ModelRequest};
use toolwright_core::wire::ToolPlan;

use super::Anthropic;
use crate::framing::{Frame, FrameDecoder, Framing};
use crate::protocol::Protocol as _;
use crate::protocol::tests::{finished, items, parse_response, plan_tools};

const MODEL: &str = "claude-sonnet-5";

/// Two tools; the API rejects the second one's name.
fn plan() -> Arc<ToolPlan> {
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false});
    let tools = json!([
        {"name": "get_weather", "description": "Tells the weather.", "input_schema": city},
        {"name": "files.read", "description": "Reads a file.", "input_schema": {"type": "object", "properties": {}, "additionalProperties": false}},
    ]);
    plan_tools(&Anthropic, &tools.to_string())
}

fn no_tools() -> Arc<ToolPlan> {
    plan_tools(&Anthropic, "[]")
}

fn body(request: &ModelRequest, model: &str) -> Value {
    Anthropic.body(request, &plan(), model).into()
}

#[derive(Clone, Debug)]
struct OwnedFrame {
    event_name: String,
    data: String,
}

/// Frames of a recorded text.
fn frames(text: &str) -> Vec<OwnedFrame> {
    let mut frames = Vec::new();
    let mut decoder = FrameDecoder::new(Framing::ServerSentEvents);
    let mut keep_frame = |frame: Frame<'_>| {
        let (event_name, data) = (frame.event_name.to_owned(), frame.data.to_owned());
        frames.push(OwnedFrame { event_name, data });
        Ok(())
    };
    decoder.push_bytes(text.as_bytes(), &mut keep_frame).unwrap();
    frames
}

/// Frames of JSON values; the event's name is the value's type.
fn text_of(values: &[Value]) -> String {
    let frames = values
        .iter()
        .map(|value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()));
    frames.collect()
}

fn read_all(frames: &[OwnedFrame]) -> Result<Vec<ModelEvent>, ModelError> {
    let frames = frames.iter();
    let frames = frames.map(|frame| (frame.event_name.as_str(), frame.data.as_str()));
    parse_response(&Anthropic, plan(), frames)
}

fn answer(text: &str) -> Vec<ModelEvent> {
    read_all(&frames(text)).unwrap()
}

fn raw(item: &Item) -> Value {
    serde_json::from_str(item.raw_json("anthropic").unwrap().get()).unwrap()
}

/// The events, without raw JSON.
fn item_kinds(events: &[ModelEvent]) -> Vec<String> {
    let shown = events.iter().map(|event| match event {
        ModelEvent::Item(item) => format!("{:?}", item.kind),
        event => format!("{event:?}"),
    });
    shown.collect()
}

fn call_fields(item: &Item) -> (String, String, String) {
    match &item.kind {
        ItemKind::Call { call } => {
            (call.id.to_string(), call.name.to_string(), call.arguments.to_string())
        }
        other => panic!("{other:?} is no call"),
    }
}
