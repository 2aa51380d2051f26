//! Parses the chunks of a response into [`ModelEvent`]s.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use toolwright_chat::{ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::NAME;
use super::error::parse_error_value;
use super::merge_delta::{merge_reasoning_detail, merge_value};
use super::wire::{Choice, Chunk, Delta};
use crate::excerpt::unreadable;
use crate::limits::{response_cut_off, too_many_calls};
use crate::protocol::call_assembler::{CallAssembler, CallDelta, CompleteCall};
use crate::protocol::custom_call::{ARGUMENTS_END, arguments_start, escape};
use crate::protocol::json::{JsonObject, is_empty, object};
use crate::protocol::{ResponseParser, item_with_raw, tool_name};

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
    reasoning_fields: JsonObject,
    calls: CallAssembler,
    /// Unknown fields of the message.
    extra_fields: JsonObject,
    finish_reason: Option<String>,
    usage: Usage,
    is_finished: bool,
    /// The events that were not taken yet.
    events: Vec<ModelEvent>,
}

impl StreamParser {
    pub(super) fn new(plan: Arc<ToolPlan>) -> Self {
        Self {
            plan,
            text: String::new(),
            refusal: String::new(),
            reasoning_text: String::new(),
            reasoning_fields: JsonObject::new(),
            calls: CallAssembler::default(),
            extra_fields: JsonObject::new(),
            finish_reason: None,
            usage: Usage::default(),
            is_finished: false,
            events: Vec::new(),
        }
    }

    /// Parses a frame that is an error, or does not parse as a chunk.
    fn parse_unexpected_frame(&mut self, name: &str, data: &str) -> Result<(), ModelError> {
        let value: Value = serde_json::from_str(data)
            .map_err(|source| unreadable("a chunk of the answer is not JSON", data, source))?;
        let is_error = value.get("object").and_then(Value::as_str) == Some("error");
        if is_error || name == "error" {
            return Err(parse_error_value(0, &value));
        }
        // A duplicate field fails to parse; a `Value` keeps the last of them.
        match serde_json::from_str(&value.to_string()) {
            Ok(chunk) => self.read_chunk(chunk),
            // JSON, but not a chunk.
            Err(_) => Ok(()),
        }
    }

    fn read_chunk(&mut self, chunk: Chunk<'_>) -> Result<(), ModelError> {
        let (groq_usage, groq_error) =
            chunk.x_groq.map_or((None, Value::Null), |groq| (groq.usage, groq.error));
        for error in [&chunk.error, &groq_error] {
            if !error.is_null() {
                return Err(parse_error_value(0, error));
            }
        }
        if let Some(id) = &chunk.id {
            self.calls.set_id_seed(id);
        }
        if let Some(usage) = chunk.usage.or(groq_usage) {
            self.usage = (*usage).into();
        }
        for choice in chunk.choices.0 {
            if choice.index.unwrap_or(0) == 0 {
                self.read_choice(choice)?;
            }
        }
        Ok(())
    }

    fn read_choice(&mut self, choice: Choice) -> Result<(), ModelError> {
        if !choice.error.is_null() {
            return Err(parse_error_value(0, &choice.error));
        }
        if let Some(usage) = choice.usage {
            self.usage = (*usage).into();
        }
        // A complete message after deltas only repeats them.
        let message = choice.message.filter(|_| self.has_no_output());
        if let Some(delta) = choice.delta.or(message) {
            self.read_delta(*delta);
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

    fn read_delta(&mut self, delta: Delta) {
        self.read_reasoning(&delta);
        self.read_content(delta.content);
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refusal.push_str(&refusal);
            self.events.push(ModelEvent::Text(refusal));
        }
        if !delta.tool_calls.0.is_empty() {
            let deltas = delta.tool_calls.0.into_iter().map(|entry| call_delta(entry, &self.plan));
            let call_events = self.calls.add_deltas(deltas);
            self.push_call_events(call_events);
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
    fn read_reasoning(&mut self, delta: &Delta) {
        let named =
            [("reasoning_content", &delta.reasoning_content), ("reasoning", &delta.reasoning)];
        for (name, text) in named {
            // An empty text is kept too: a vendor that sends the field may require it.
            if let Some(text) = text {
                let field = self.reasoning_fields.entry(name).or_insert_with(|| "".into());
                merge_value(field, Value::String(text.clone()));
            }
        }
        let mut details_text = String::new();
        if !delta.reasoning_details.0.is_empty() {
            let field =
                self.reasoning_fields.entry("reasoning_details").or_insert_with(|| json!([]));
            for detail in &delta.reasoning_details.0 {
                let text = detail.get("text").or_else(|| detail.get("summary"));
                details_text.push_str(text.and_then(Value::as_str).unwrap_or_default());
                if let Value::Array(details) = field {
                    merge_reasoning_detail(details, detail.clone());
                }
            }
        }
        let text =
            named.into_iter().filter_map(|(_, text)| text.as_ref()).find(|text| !text.is_empty());
        self.emit_reasoning(text.cloned().unwrap_or(details_text));
    }

    fn emit_reasoning(&mut self, text: String) {
        if !text.is_empty() {
            self.reasoning_text.push_str(&text);
            self.events.push(ModelEvent::Reasoning(text));
        }
    }

    fn read_content(&mut self, content: Value) {
        match content {
            Value::String(text) if !text.is_empty() => {
                self.text.push_str(&text);
                self.events.push(ModelEvent::Text(text));
            }
            Value::Array(parts) => {
                for part in parts {
                    self.read_content_part(part);
                }
            }
            _ => {}
        }
    }

    /// Mistral sends its content in parts, reasoning among them.
    fn read_content_part(&mut self, part: Value) {
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
            self.emit_reasoning(text);
        } else if let Some(text) = part_text(&part) {
            self.read_content(Value::String(text.to_owned()));
        } else {
            let parts = self.extra_fields.entry("content").or_insert_with(|| json!([]));
            merge_value(parts, Value::Array(vec![part]));
        }
    }

    /// Emits events of calls, with the tools' own names instead of those on the wire.
    fn push_call_events(&mut self, events: Vec<ModelEvent>) {
        for mut event in events {
            if let ModelEvent::CallBegins { name, .. } = &mut event {
                *name = tool_name(&self.plan, name.as_str());
            }
            self.events.push(event);
        }
    }

    fn push_item(&mut self, kind: ItemKind, raw: &impl Serialize) {
        let item = item_with_raw(NAME, kind, raw);
        self.events.push(ModelEvent::Item(item));
    }

    /// Emits all items, and the end of the response.
    fn finish(&mut self) {
        self.is_finished = true;
        let (call_events, calls) = self.calls.finish();
        self.push_call_events(call_events);
        let reasoning = std::mem::take(&mut self.reasoning_fields);
        let text = std::mem::take(&mut self.reasoning_text);
        if !reasoning.is_empty() {
            self.push_item(ItemKind::Reasoning { text }, &reasoning);
        }
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            let raw = json!({"content": text});
            self.push_item(ItemKind::Text { text }, &raw);
        }
        let text = std::mem::take(&mut self.refusal);
        let has_refusal = !text.is_empty();
        if has_refusal {
            let raw = json!({"refusal": text});
            self.push_item(ItemKind::Refusal { text }, &raw);
        }
        let has_calls = calls.iter().any(|call| !call.name.is_empty());
        let stop = stop_reason(self.finish_reason.take(), has_calls, has_refusal);
        let is_cut_off = matches!(stop, StopReason::Length | StopReason::Filtered);
        let last = calls.len().saturating_sub(1);
        for (index, call) in calls.into_iter().enumerate() {
            match is_custom(&call) {
                true => self.push_custom_call(index, call, is_cut_off && index == last),
                false => self.push_call(call),
            }
        }
        for (name, value) in std::mem::take(&mut self.extra_fields) {
            if !is_empty(&value) {
                self.push_item(ItemKind::Other, &JsonObject::from_iter([(name, value)]));
            }
        }
        self.events.push(ModelEvent::Finished { stop, usage: self.usage });
    }

    fn push_call(&mut self, complete: CompleteCall) {
        let CompleteCall { id, name, arguments, extra_fields } = complete;
        let function = (!name.is_empty() || !arguments.is_empty())
            .then(|| json!({"name": name, "arguments": arguments}));
        let mut raw = object([
            ("id", id.as_str().into()),
            ("type", "function".into()),
            ("function", function.into()),
        ]);
        raw.extend(extra_fields);
        if name.is_empty() {
            return self.push_item(ItemKind::Other, &json!({"tool_calls": [raw]}));
        }
        let call = self.plan.lift(ToolCall::new(name, arguments).with_id(id));
        self.push_item(ItemKind::Call { call }, &raw);
    }
}

impl StreamParser {
    /// Emits the call of a custom tool, whose arguments still lack their end; so they stay if the response was cut off in them.
    fn push_custom_call(&mut self, index: usize, complete: CompleteCall, is_cut_off: bool) {
        let CompleteCall { id, name, mut arguments, extra_fields } = complete;
        let text = arguments.strip_prefix(&arguments_start(&self.plan, &name)).unwrap_or_default();
        let text: String = serde_json::from_str(&format!("\"{text}\"")).unwrap_or_default();
        let custom = json!({"name": name, "input": text});
        let mut raw =
            object([("id", id.as_str().into()), ("type", "custom".into()), ("custom", custom)]);
        raw.extend(extra_fields);
        if !is_cut_off {
            arguments.push_str(ARGUMENTS_END);
            self.events.push(ModelEvent::CallDelta { index, delta: ARGUMENTS_END.to_owned() });
        }
        let call = self.plan.lift(ToolCall::new(name, arguments).with_id(id));
        self.push_item(ItemKind::Call { call }, &raw);
    }
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, name: &str, data: &str) -> Result<(), ModelError> {
        let data = data.trim();
        if self.is_finished || data.is_empty() {
            return Ok(());
        }
        if data == END_OF_STREAM {
            self.finish();
            return Ok(());
        }
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) if name != "error" && chunk.object.as_deref() != Some("error") => {
                self.read_chunk(chunk)
            }
            _ => self.parse_unexpected_frame(name, data),
        }
    }

    fn end_of_stream(&mut self) -> Result<(), ModelError> {
        if self.is_finished {
            return Ok(());
        }
        // Some servers omit `[DONE]`, but a complete response has a finish reason.
        if self.finish_reason.is_some() {
            self.finish();
            return Ok(());
        }
        Err(response_cut_off())
    }

    fn events(&mut self) -> &mut Vec<ModelEvent> {
        &mut self.events
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

/// Returns true for the call of a custom tool.
fn is_custom(call: &CompleteCall) -> bool {
    !call.name.is_empty() && call.extra_fields.get("type").is_some_and(|kind| kind == "custom")
}

/// Parses one element of `tool_calls`.
fn call_delta(mut entry: JsonObject, plan: &ToolPlan) -> CallDelta {
    let index = entry.remove("index");
    let id = entry.remove("id");
    if let Some(Value::Object(mut custom)) = entry.remove("custom") {
        let name = custom.remove("name");
        // Only the first delta has a name.
        let start = name.as_ref().and_then(Value::as_str).filter(|name| !name.trim().is_empty());
        let start = start.map(|name| arguments_start(plan, name)).unwrap_or_default();
        let text = custom.get("input").and_then(Value::as_str).unwrap_or_default();
        let arguments = format!("{start}{}", escape(text)).into();
        let mut delta = CallDelta::new(index.as_ref(), id.as_ref(), name.as_ref(), Some(arguments));
        entry.insert("type".to_owned(), "custom".into());
        delta.extra_fields = entry;
        return delta;
    }
    let mut function = match entry.remove("function") {
        Some(Value::Object(function)) => function,
        _ => JsonObject::new(),
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
