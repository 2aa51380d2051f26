//! Parses the lines of a response into [`ModelEvent`]s.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright_chat::{ItemKind, ModelError, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::{NAME, error, wire};
use crate::excerpt::unreadable;
use crate::limits::{MAX_ID_SEED_BYTES, response_cut_off};
use crate::protocol::ResponseParser;
use crate::protocol::item_builder::ItemBuilder;
use crate::protocol::json::without_duplicate_fields;

/// Parses one response.
pub(super) struct StreamParser {
    items: ItemBuilder,
    is_finished: bool,
}

impl StreamParser {
    pub(super) fn new(tools: Arc<ToolPlan>) -> Self {
        Self { items: ItemBuilder::new(NAME, tools, text_json), is_finished: false }
    }

    fn read_call(&mut self, raw: &RawValue, created_at: Option<&str>) -> Result<(), ModelError> {
        // Anything but an object could not be replayed.
        if !raw.get().starts_with('{') {
            return Ok(());
        }
        let call: wire::Call<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let Some(function) = call.function else {
            self.items.push_item(ItemKind::Other, raw);
            return Ok(());
        };
        let arguments = arguments_text(function.arguments);
        let id_prefix = created_at.and_then(id_prefix);
        self.items.push_call(
            ToolCall::new(function.name, arguments),
            call.id,
            id_prefix.as_deref(),
            raw,
        )
    }
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, _: &str, data: &str) -> Result<(), ModelError> {
        if self.is_finished || data.trim().is_empty() {
            return Ok(());
        }
        let deduplicated;
        let line: wire::Line<'_> = match serde_json::from_str(data) {
            Ok(line) => line,
            Err(source) => {
                deduplicated = without_duplicate_fields(data).unwrap_or_default();
                serde_json::from_str(&deduplicated)
                    .map_err(|_| unreadable("a line is not in the protocol", data, source))?
            }
        };
        if line.error.is_some() {
            return Err(error::parse_error_body(0, data));
        }
        let message = line.message;
        for (is_reasoning, text) in [(true, message.thinking), (false, message.content)] {
            if !text.is_empty() {
                self.items.push_text(is_reasoning, text);
            }
        }
        for raw in message.tool_calls {
            self.read_call(raw, line.created_at.as_deref())?;
        }
        if !line.done {
            return Ok(());
        }
        self.is_finished = true;
        self.items.close_text();
        let stop = stop_reason(line.done_reason, self.items.has_calls());
        let usage = Usage::new(line.prompt_eval_count, line.eval_count);
        self.items.events.push(ModelEvent::Finished { stop, usage });
        Ok(())
    }

    fn end_of_stream(&mut self) -> Result<(), ModelError> {
        match self.is_finished {
            true => Ok(()),
            false => Err(response_cut_off()),
        }
    }

    fn events(&mut self) -> &mut Vec<ModelEvent> {
        &mut self.items.events
    }
}

/// The JSON of the message with only this text.
fn text_json(is_reasoning: bool, text: &str) -> Value {
    match is_reasoning {
        true => json!({"thinking": text}),
        false => json!({"content": text}),
    }
}

/// The prefix of generated call ids: the time of the line, which is the same when the line is parsed again.
fn id_prefix(created_at: &str) -> Option<String> {
    let digits = created_at.chars().filter(char::is_ascii_digit);
    let digits: String = digits.take(MAX_ID_SEED_BYTES).collect();
    (!digits.is_empty()).then(|| format!("call_{digits}"))
}

/// An object as JSON; a string, which some servers send instead, unchanged.
fn arguments_text(raw: Option<&RawValue>) -> String {
    let text = raw.map(RawValue::get).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
}

fn stop_reason(reason: String, calls: bool) -> StopReason {
    match reason.as_str() {
        // Older servers send no reason.
        "stop" | "tool_calls" | "" if calls => StopReason::Calls,
        "stop" | "" => StopReason::End,
        "length" => StopReason::Length,
        _ => StopReason::Other(reason),
    }
}
