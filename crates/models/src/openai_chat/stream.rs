//! Chunks in, ModelEvents out.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::Plan;

use super::error::of_value;
use super::grow::{add_detail, grow, is_nothing};
use super::wire::{Choice, Chunk, Delta};
use super::{OpenAiChat, Protocol as _};
use crate::assemble::{Assembler, Piece, Whole};
use crate::bounds::too_many_calls;
use crate::excerpt::excerpt;
use crate::protocol::Reader;

/// What ends the stream.
const DONE: &str = "[DONE]";

/// Reads one answer.
pub(super) struct Chunks {
    plan: Arc<Plan>,
    text: String,
    refusal: String,
    /// What the model thought, as it was told.
    thought: String,
    /// The same in the fields that it came in.
    reasoning: Map<String, Value>,
    calls: Assembler,
    /// Fields of the message that nobody here knows.
    rest: Map<String, Value>,
    finish: Option<String>,
    usage: Usage,
    ended: bool,
}

impl Chunks {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            text: String::new(),
            refusal: String::new(),
            thought: String::new(),
            reasoning: Map::new(),
            calls: Assembler::default(),
            rest: Map::new(),
            finish: None,
            usage: Usage::default(),
            ended: false,
        }
    }

    /// Reads a frame that is an error, or no chunk at first sight.
    fn strange(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let value: Value = serde_json::from_str(data).map_err(|error| {
            let message = format!("a chunk of the answer is not JSON: {}", excerpt(data));
            ModelError::new(ModelErrorKind::Protocol, message).with_source(error)
        })?;
        let is_error = value.get("object").and_then(Value::as_str) == Some("error");
        if is_error || name == "error" {
            return Err(of_value(0, &value));
        }
        // Of a field that came twice, this text has the last.
        match serde_json::from_str(&value.to_string()) {
            Ok(chunk) => self.chunk(chunk),
            // JSON, but nothing that a chunk could be.
            Err(_) => Ok(Vec::new()),
        }
    }

    fn chunk(&mut self, chunk: Chunk) -> Result<Vec<ModelEvent>, ModelError> {
        let groq = chunk.x_groq.unwrap_or_default();
        for error in [&chunk.error, &groq.error] {
            if !error.is_null() {
                return Err(of_value(0, error));
            }
        }
        if let Some(id) = &chunk.id {
            self.calls.seed(id);
        }
        if let Some(usage) = chunk.usage.or(groq.usage) {
            self.usage = usage.into();
        }
        let mut events = Vec::new();
        for choice in chunk.choices {
            if choice.index.unwrap_or(0) == 0 {
                self.choice(choice, &mut events)?;
            }
        }
        Ok(events)
    }

    fn choice(&mut self, choice: Choice, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if !choice.error.is_null() {
            return Err(of_value(0, &choice.error));
        }
        if let Some(usage) = choice.usage {
            self.usage = usage.into();
        }
        // A message that comes after its own deltas only repeats them.
        let message = choice.message.filter(|_| self.is_empty());
        if let Some(delta) = choice.delta.or(message) {
            self.delta(delta, events);
            if self.calls.is_full() {
                return Err(too_many_calls());
            }
        }
        match choice.finish_reason {
            Some(reason) if BROKEN.contains(&reason.as_str()) => Err(ModelError::new(
                ModelErrorKind::Overloaded,
                format!("the vendor broke off its answer: {reason}"),
            )),
            Some(reason) if !reason.is_empty() => {
                self.finish = Some(reason);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
            && self.refusal.is_empty()
            && self.reasoning.is_empty()
            && self.calls.is_empty()
    }

    fn delta(&mut self, delta: Delta, events: &mut Vec<ModelEvent>) {
        self.think(&delta, events);
        self.content(delta.content, events);
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refusal.push_str(&refusal);
            events.push(ModelEvent::Text(refusal));
        }
        if !delta.tool_calls.is_empty() {
            let told = self.calls.read(delta.tool_calls.into_iter().map(piece));
            events.extend(told.into_iter().map(|event| self.named(event)));
        }
        if let Some(call) = delta.function_call {
            let piece = Piece::new(None, None, Some(&call.name), Some(call.arguments));
            self.calls.read_legacy(piece);
        }
        for (name, value) in delta.rest {
            grow(self.rest.entry(name).or_insert(Value::Null), value);
        }
    }

    /// What is thought comes under several names, and under more than one at once.
    fn think(&mut self, delta: &Delta, events: &mut Vec<ModelEvent>) {
        let named = [
            ("reasoning_content", &delta.reasoning_content),
            ("reasoning", &delta.reasoning),
        ];
        for (name, text) in named {
            // An empty one is kept too: whoever sends the field may want it back.
            if let Some(text) = text {
                let kept = self
                    .reasoning
                    .entry(name)
                    .or_insert_with(|| Value::String(String::new()));
                grow(kept, Value::String(text.clone()));
            }
        }
        let mut in_details = String::new();
        if !delta.reasoning_details.is_empty() {
            let kept = self
                .reasoning
                .entry("reasoning_details")
                .or_insert_with(|| Value::Array(Vec::new()));
            for detail in &delta.reasoning_details {
                let text = detail.get("text").or_else(|| detail.get("summary"));
                in_details.push_str(text.and_then(Value::as_str).unwrap_or_default());
                if let Value::Array(details) = kept {
                    add_detail(details, detail.clone());
                }
            }
        }
        let told = named
            .into_iter()
            .filter_map(|(_, text)| text.as_ref())
            .find(|text| !text.is_empty());
        self.tell_thought(told.unwrap_or(&in_details).clone(), events);
    }

    fn tell_thought(&mut self, text: String, events: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.thought.push_str(&text);
            events.push(ModelEvent::Reasoning(text));
        }
    }

    fn content(&mut self, content: Value, events: &mut Vec<ModelEvent>) {
        match content {
            Value::String(text) if !text.is_empty() => {
                self.text.push_str(&text);
                events.push(ModelEvent::Text(text));
            }
            Value::Array(parts) => {
                for part in parts {
                    self.part(part, events);
                }
            }
            _ => {}
        }
    }

    /// Mistral sends its content in parts, thoughts among them.
    fn part(&mut self, part: Value, events: &mut Vec<ModelEvent>) {
        if let Some(thought) = part.get("thinking") {
            let text = match thought {
                Value::Array(parts) => parts.iter().filter_map(text_of).collect(),
                Value::String(text) => text.clone(),
                _ => String::new(),
            };
            let kept = self
                .reasoning
                .entry("content")
                .or_insert_with(|| json!([{"type": "thinking", "thinking": []}]));
            if let Some(Value::Array(parts)) = kept.pointer_mut("/0/thinking") {
                match parts.last_mut().and_then(|part| part.get_mut("text")) {
                    Some(last) => grow(last, Value::String(text.clone())),
                    None => parts.push(json!({"type": "text", "text": text})),
                }
            }
            self.tell_thought(text, events);
        } else if let Some(text) = text_of(&part) {
            self.content(Value::String(text.to_owned()), events);
        } else {
            let parts = self
                .rest
                .entry("content")
                .or_insert_with(|| Value::Array(Vec::new()));
            grow(parts, Value::Array(vec![part]));
        }
    }

    /// The event with the tool's own name instead of the wire's.
    fn named(&self, event: ModelEvent) -> ModelEvent {
        match event {
            ModelEvent::CallBegins { index, id, name } => {
                let tool = self
                    .plan
                    .tools()
                    .iter()
                    .find(|tool| name == tool.wire.as_str());
                let name = tool.map_or(name, |tool| tool.name.as_str().into());
                ModelEvent::CallBegins { index, id, name }
            }
            other => other,
        }
    }

    /// Tells all items, and why the answer ends.
    fn finish(&mut self) -> Vec<ModelEvent> {
        self.ended = true;
        let (told, calls) = self.calls.finish();
        let mut events: Vec<ModelEvent> = told.into_iter().map(|event| self.named(event)).collect();
        let mut items = Vec::new();
        let reasoning = std::mem::take(&mut self.reasoning);
        let text = std::mem::take(&mut self.thought);
        if !reasoning.is_empty() {
            items.push(item(ItemKind::Reasoning { text }, &reasoning));
        }
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            let raw = json!({"content": text});
            items.push(item(ItemKind::Text { text }, &raw));
        }
        let text = std::mem::take(&mut self.refusal);
        let refused = !text.is_empty();
        if refused {
            let raw = json!({"refusal": text});
            items.push(item(ItemKind::Refusal { text }, &raw));
        }
        let mut called = false;
        for call in calls {
            called |= !call.name.is_empty();
            items.push(self.call(call));
        }
        for (name, value) in std::mem::take(&mut self.rest) {
            if !is_nothing(&value) {
                let raw = Map::from_iter([(name, value)]);
                items.push(item(ItemKind::Other, &raw));
            }
        }
        events.extend(items.into_iter().map(ModelEvent::Item));
        events.push(ModelEvent::Finished {
            stop: stop(self.finish.take(), called, refused),
            usage: self.usage,
        });
        events
    }

    fn call(&self, whole: Whole) -> Item {
        let mut raw = Map::new();
        raw.insert("id".to_owned(), whole.id.as_str().into());
        raw.insert("type".to_owned(), "function".into());
        if !whole.name.is_empty() || !whole.arguments.is_empty() {
            let function = json!({"name": whole.name, "arguments": whole.arguments});
            raw.insert("function".to_owned(), function);
        }
        raw.extend(whole.rest);
        if whole.name.is_empty() {
            return item(ItemKind::Other, &json!({"tool_calls": [raw]}));
        }
        let call = ToolCall::new(whole.name, whole.arguments).with_id(whole.id);
        let call = self.plan.lift(call);
        item(ItemKind::Call { call }, &raw)
    }
}

impl Reader for Chunks {
    fn frame(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let data = data.trim();
        if self.ended || data.is_empty() {
            return Ok(Vec::new());
        }
        if data == DONE {
            return Ok(self.finish());
        }
        match serde_json::from_str::<Chunk>(data) {
            Ok(chunk) if name != "error" && chunk.object.as_deref() != Some("error") => {
                self.chunk(chunk)
            }
            _ => self.strange(name, data),
        }
    }

    fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if self.ended {
            return Ok(Vec::new());
        }
        // Not everybody says that the stream is done, but an answer has a reason to end.
        if self.finish.is_some() {
            return Ok(self.finish());
        }
        Err(ModelError::new(
            ModelErrorKind::Protocol,
            "the answer was cut off",
        ))
    }
}

/// Reasons to end that are none: the vendor could not go on.
const BROKEN: [&str; 2] = ["error", "insufficient_system_resource"];

fn stop(reason: Option<String>, called: bool, refused: bool) -> StopReason {
    let reason = reason.unwrap_or_default();
    match reason.as_str() {
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        // The imitation of Google's writes its own reason behind it.
        reason if reason.starts_with("content_filter") => StopReason::Filtered,
        // Some say `stop` although there are calls, some say `tool_calls` although there are none.
        _ if called => StopReason::Calls,
        _ if refused => StopReason::Refused,
        "" | "stop" | "tool_calls" | "function_call" | "eos" | "eos_token" | "stop_sequence"
        | "end_turn" => StopReason::End,
        _ => StopReason::Other(reason),
    }
}

fn item(kind: ItemKind, raw: &impl serde::Serialize) -> Item {
    match to_raw_value(raw) {
        Ok(raw) => Item::new(kind).with_raw(OpenAiChat::NAME, raw),
        Err(_) => Item::new(kind),
    }
}

/// Reads one element of `tool_calls`.
fn piece(mut entry: Map<String, Value>) -> Piece {
    let index = entry.remove("index");
    let id = entry.remove("id");
    let mut function = match entry.remove("function") {
        Some(Value::Object(function)) => function,
        _ => Map::new(),
    };
    let name = function.remove("name");
    let arguments = function.remove("arguments");
    let mut piece = Piece::new(index.as_ref(), id.as_ref(), name.as_ref(), arguments);
    if entry.get("type").is_some_and(|kind| kind == "function") {
        entry.remove("type");
    }
    piece.rest = entry;
    piece
}

fn text_of(part: &Value) -> Option<&str> {
    part.get("text").and_then(Value::as_str)
}
