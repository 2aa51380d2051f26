//! Parses the chunks of a response into [`ModelEvent`]s.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::error::parse_error_value;
use super::merge_delta::{merge_reasoning_detail, merge_value};
use super::wire::{Choice, Chunk, Delta};
use super::{OpenAiChat, Protocol as _};
use crate::excerpt::excerpt;
use crate::limits::{protocol_error, response_cut_off, too_many_calls};
use crate::protocol::call_assembler::{CallAssembler, CallDelta, CompleteCall};
use crate::protocol::{ResponseParser, item_with_raw, json, tool_name};

/// The data of the last frame.
const END_OF_STREAM: &str = "[DONE]";

/// Parses one response.
pub(super) struct StreamParser {
    plan: Arc<ToolPlan>,
    text: String,
    refusal: String,
    /// The reasoning, as it was emitted.
    reasoning_text: String,
    /// The reasoning in the fields of the message, which are replayed.
    reasoning_fields: Map<String, Value>,
    calls: CallAssembler,
    /// Unknown fields of the message.
    extra_fields: Map<String, Value>,
    finish_reason: Option<String>,
    usage: Usage,
    is_finished: bool,
}

impl StreamParser {
    pub(super) fn new(plan: Arc<ToolPlan>) -> Self {
        Self {
            plan,
            text: String::new(),
            refusal: String::new(),
            reasoning_text: String::new(),
            reasoning_fields: Map::new(),
            calls: CallAssembler::default(),
            extra_fields: Map::new(),
            finish_reason: None,
            usage: Usage::default(),
            is_finished: false,
        }
    }

    /// Parses a frame that is an error, or does not parse as a chunk.
    fn parse_unexpected_frame(
        &mut self,
        name: &str,
        data: &str,
    ) -> Result<Vec<ModelEvent>, ModelError> {
        let value: Value = serde_json::from_str(data).map_err(|error| {
            let message = format!("a chunk of the answer is not JSON: {}", excerpt(data));
            protocol_error(message).with_source(error)
        })?;
        let is_error = value.get("object").and_then(Value::as_str) == Some("error");
        if is_error || name == "error" {
            return Err(parse_error_value(0, &value));
        }
        // A duplicate field fails to parse; a `Value` keeps the last of them.
        match serde_json::from_str(&value.to_string()) {
            Ok(chunk) => self.read_chunk(chunk),
            // JSON, but not a chunk.
            Err(_) => Ok(Vec::new()),
        }
    }

    fn read_chunk(&mut self, chunk: Chunk) -> Result<Vec<ModelEvent>, ModelError> {
        let groq = chunk.x_groq.unwrap_or_default();
        for error in [&chunk.error, &groq.error] {
            if !error.is_null() {
                return Err(parse_error_value(0, error));
            }
        }
        if let Some(id) = &chunk.id {
            self.calls.set_id_seed(id);
        }
        if let Some(usage) = chunk.usage.or(groq.usage) {
            self.usage = usage.into();
        }
        let mut events = Vec::new();
        for choice in chunk.choices {
            if choice.index.unwrap_or(0) == 0 {
                self.read_choice(choice, &mut events)?;
            }
        }
        Ok(events)
    }

    fn read_choice(
        &mut self,
        choice: Choice,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if !choice.error.is_null() {
            return Err(parse_error_value(0, &choice.error));
        }
        if let Some(usage) = choice.usage {
            self.usage = usage.into();
        }
        // A complete message after deltas only repeats them.
        let message = choice.message.filter(|_| self.has_no_output());
        if let Some(delta) = choice.delta.or(message) {
            self.read_delta(delta, events);
            if self.calls.exceeds_call_limit() {
                return Err(too_many_calls());
            }
        }
        match choice.finish_reason {
            Some(reason) if VENDOR_FAILURE_REASONS.contains(&reason.as_str()) => {
                Err(ModelError::new(
                    ModelErrorKind::Overloaded,
                    format!("the vendor broke off its answer: {reason}"),
                ))
            }
            Some(reason) if !reason.is_empty() => {
                self.finish_reason = Some(reason);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn has_no_output(&self) -> bool {
        self.text.is_empty()
            && self.refusal.is_empty()
            && self.reasoning_fields.is_empty()
            && self.calls.is_empty()
    }

    fn read_delta(&mut self, delta: Delta, events: &mut Vec<ModelEvent>) {
        self.read_reasoning(&delta, events);
        self.read_content(delta.content, events);
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refusal.push_str(&refusal);
            events.push(ModelEvent::Text(refusal));
        }
        if !delta.tool_calls.is_empty() {
            let call_events = self.calls.add_deltas(delta.tool_calls.into_iter().map(call_delta));
            let call_events = call_events.into_iter();
            events.extend(call_events.map(|event| self.with_tool_name(event)));
        }
        if let Some(call) = delta.function_call {
            let delta = CallDelta::new(None, None, Some(&call.name), Some(call.arguments));
            self.calls.add_legacy_delta(delta);
        }
        for (name, value) in delta.rest {
            merge_value(self.extra_fields.entry(name).or_insert(Value::Null), value);
        }
    }

    /// Reasoning comes in one of several fields, or in more than one at once.
    fn read_reasoning(&mut self, delta: &Delta, events: &mut Vec<ModelEvent>) {
        let named =
            [("reasoning_content", &delta.reasoning_content), ("reasoning", &delta.reasoning)];
        for (name, text) in named {
            // An empty text is kept too: a vendor that sends the field may require it.
            if let Some(text) = text {
                let field = self
                    .reasoning_fields
                    .entry(name)
                    .or_insert_with(|| Value::String(String::new()));
                merge_value(field, Value::String(text.clone()));
            }
        }
        let mut details_text = String::new();
        if !delta.reasoning_details.is_empty() {
            let field = self
                .reasoning_fields
                .entry("reasoning_details")
                .or_insert_with(|| Value::Array(Vec::new()));
            for detail in &delta.reasoning_details {
                let text = detail.get("text").or_else(|| detail.get("summary"));
                details_text.push_str(text.and_then(Value::as_str).unwrap_or_default());
                if let Value::Array(details) = field {
                    merge_reasoning_detail(details, detail.clone());
                }
            }
        }
        let text =
            named.into_iter().filter_map(|(_, text)| text.as_ref()).find(|text| !text.is_empty());
        self.emit_reasoning(text.unwrap_or(&details_text).clone(), events);
    }

    fn emit_reasoning(&mut self, text: String, events: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.reasoning_text.push_str(&text);
            events.push(ModelEvent::Reasoning(text));
        }
    }

    fn read_content(&mut self, content: Value, events: &mut Vec<ModelEvent>) {
        match content {
            Value::String(text) if !text.is_empty() => {
                self.text.push_str(&text);
                events.push(ModelEvent::Text(text));
            }
            Value::Array(parts) => {
                for part in parts {
                    self.read_content_part(part, events);
                }
            }
            _ => {}
        }
    }

    /// Mistral sends its content in parts, reasoning among them.
    fn read_content_part(&mut self, part: Value, events: &mut Vec<ModelEvent>) {
        if let Some(thinking) = part.get("thinking") {
            let text = match thinking {
                Value::Array(parts) => parts.iter().filter_map(part_text).collect(),
                Value::String(text) => text.clone(),
                _ => String::new(),
            };
            let field = self
                .reasoning_fields
                .entry("content")
                .or_insert_with(|| json!([{"type": "thinking", "thinking": []}]));
            if let Some(Value::Array(parts)) = field.pointer_mut("/0/thinking") {
                match parts.last_mut().and_then(|part| part.get_mut("text")) {
                    Some(last) => merge_value(last, Value::String(text.clone())),
                    None => parts.push(json!({"type": "text", "text": text})),
                }
            }
            self.emit_reasoning(text, events);
        } else if let Some(text) = part_text(&part) {
            self.read_content(Value::String(text.to_owned()), events);
        } else {
            let parts =
                self.extra_fields.entry("content").or_insert_with(|| Value::Array(Vec::new()));
            merge_value(parts, Value::Array(vec![part]));
        }
    }

    /// Replaces the wire name of the tool in a `CallBegins` by its own name.
    fn with_tool_name(&self, event: ModelEvent) -> ModelEvent {
        match event {
            ModelEvent::CallBegins { index, id, name } => {
                let name = tool_name(&self.plan, name.as_str());
                ModelEvent::CallBegins { index, id, name }
            }
            other => other,
        }
    }

    /// Returns all items, and the end of the response.
    fn finish(&mut self) -> Vec<ModelEvent> {
        self.is_finished = true;
        let (call_events, calls) = self.calls.finish();
        let mut events: Vec<ModelEvent> =
            call_events.into_iter().map(|event| self.with_tool_name(event)).collect();
        let mut items = Vec::new();
        let reasoning = std::mem::take(&mut self.reasoning_fields);
        let text = std::mem::take(&mut self.reasoning_text);
        if !reasoning.is_empty() {
            items.push(item_with_raw(OpenAiChat::NAME, ItemKind::Reasoning { text }, &reasoning));
        }
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            let raw = json!({"content": text});
            items.push(item_with_raw(OpenAiChat::NAME, ItemKind::Text { text }, &raw));
        }
        let text = std::mem::take(&mut self.refusal);
        let has_refusal = !text.is_empty();
        if has_refusal {
            let raw = json!({"refusal": text});
            items.push(item_with_raw(OpenAiChat::NAME, ItemKind::Refusal { text }, &raw));
        }
        let mut has_calls = false;
        for call in calls {
            has_calls |= !call.name.is_empty();
            items.push(self.call_item(call));
        }
        for (name, value) in std::mem::take(&mut self.extra_fields) {
            if !json::is_empty(&value) {
                let raw = Map::from_iter([(name, value)]);
                items.push(item_with_raw(OpenAiChat::NAME, ItemKind::Other, &raw));
            }
        }
        events.extend(items.into_iter().map(ModelEvent::Item));
        events.push(ModelEvent::Finished {
            stop: stop_reason(self.finish_reason.take(), has_calls, has_refusal),
            usage: self.usage,
        });
        events
    }

    fn call_item(&self, complete: CompleteCall) -> Item {
        let mut raw = Map::new();
        raw.insert("id".to_owned(), complete.id.as_str().into());
        raw.insert("type".to_owned(), "function".into());
        if !complete.name.is_empty() || !complete.arguments.is_empty() {
            let function = json!({"name": complete.name, "arguments": complete.arguments});
            raw.insert("function".to_owned(), function);
        }
        raw.extend(complete.extra_fields);
        if complete.name.is_empty() {
            return item_with_raw(OpenAiChat::NAME, ItemKind::Other, &json!({"tool_calls": [raw]}));
        }
        let call = ToolCall::new(complete.name, complete.arguments).with_id(complete.id);
        let call = self.plan.lift(call);
        item_with_raw(OpenAiChat::NAME, ItemKind::Call { call }, &raw)
    }
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let data = data.trim();
        if self.is_finished || data.is_empty() {
            return Ok(Vec::new());
        }
        if data == END_OF_STREAM {
            return Ok(self.finish());
        }
        match serde_json::from_str::<Chunk>(data) {
            Ok(chunk) if name != "error" && chunk.object.as_deref() != Some("error") => {
                self.read_chunk(chunk)
            }
            _ => self.parse_unexpected_frame(name, data),
        }
    }

    fn end_of_stream(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if self.is_finished {
            return Ok(Vec::new());
        }
        // Some servers omit `[DONE]`, but a complete response has a finish reason.
        if self.finish_reason.is_some() {
            return Ok(self.finish());
        }
        Err(response_cut_off())
    }
}

/// Finish reasons that are errors of the vendor.
const VENDOR_FAILURE_REASONS: [&str; 2] = ["error", "insufficient_system_resource"];

fn stop_reason(reason: Option<String>, has_calls: bool, has_refusal: bool) -> StopReason {
    let reason = reason.unwrap_or_default();
    match reason.as_str() {
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        // Google's imitation appends its own reason.
        reason if reason.starts_with("content_filter") => StopReason::Filtered,
        // Some send `stop` although there are calls, some `tool_calls` although there are none.
        _ if has_calls => StopReason::Calls,
        _ if has_refusal => StopReason::Refused,
        "" | "stop" | "tool_calls" | "function_call" | "eos" | "eos_token" | "stop_sequence"
        | "end_turn" => StopReason::End,
        _ => StopReason::Other(reason),
    }
}

/// Parses one element of `tool_calls`.
fn call_delta(mut entry: Map<String, Value>) -> CallDelta {
    let index = entry.remove("index");
    let id = entry.remove("id");
    let mut function = match entry.remove("function") {
        Some(Value::Object(function)) => function,
        _ => Map::new(),
    };
    let name = function.remove("name");
    let arguments = function.remove("arguments");
    let mut delta = CallDelta::new(index.as_ref(), id.as_ref(), name.as_ref(), arguments);
    if entry.get("type").is_some_and(|kind| kind == "function") {
        entry.remove("type");
    }
    delta.extra_fields = entry;
    delta
}

fn part_text(part: &Value) -> Option<&str> {
    part.get("text").and_then(Value::as_str)
}
