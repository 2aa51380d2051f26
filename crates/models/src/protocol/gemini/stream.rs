//! Parses the chunks of a response into [`ModelEvent`]s.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright_chat::{ItemKind, ModelError, ModelErrorKind, ModelEvent, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::item::{blocked_message, hosted_kind, search_kind, stop_reason};
use super::{NAME, error, wire};
use crate::excerpt::unreadable;
use crate::limits::{
    MAX_ID_SEED_BYTES, MAX_ITEMS, protocol_error, response_cut_off, too_many_items,
};
use crate::protocol::item_builder::ItemBuilder;
use crate::protocol::json::replace_count;
use crate::protocol::{ResponseParser, item_with_raw};

/// Parses one response.
pub(super) struct StreamParser {
    items: ItemBuilder,
    /// The vendor's id of the response, the prefix of generated call ids.
    response_id: Option<String>,
    grounding: Option<Box<RawValue>>,
    finish_reason: Option<String>,
    usage: wire::Usage,
}

impl StreamParser {
    pub(super) fn new(tools: Arc<ToolPlan>) -> Self {
        Self {
            items: ItemBuilder::new(NAME, tools, text_json),
            response_id: None,
            grounding: None,
            finish_reason: None,
            usage: wire::Usage::default(),
        }
    }

    fn read_part(&mut self, raw: &RawValue) -> Result<(), ModelError> {
        // Anything but an object could not be replayed.
        let Ok(part) = serde_json::from_str::<wire::Part<'_>>(raw.get()) else {
            return Ok(());
        };
        if part.is_empty() {
            return Ok(());
        }
        if let Some(call) = parse_field(&part, "functionCall") {
            return self.read_call(call, raw);
        }
        let is_reasoning = parse_field(&part, "thought") == Some(true);
        let kind = if let Some(call) = parse_field::<wire::HostedTool<'_>>(&part, "toolCall") {
            hosted_kind(&call.tool_type, call.args, None)
        } else if let Some(result) = parse_field::<wire::HostedTool<'_>>(&part, "toolResponse") {
            hosted_kind(&result.tool_type, None, result.response)
        } else if let Some(text) = parse_field::<String>(&part, "text") {
            let is_plain = |key: &String| matches!(key.as_str(), "text" | "thought");
            match part.keys().all(is_plain) {
                true => self.items.push_text(is_reasoning, text),
                false => self.items.push_separate_text(is_reasoning, text, raw),
            }
            return Ok(());
        } else if is_reasoning {
            ItemKind::Reasoning { text: String::new() }
        } else {
            ItemKind::Other
        };
        self.items.push_item(kind, raw);
        Ok(())
    }

    fn read_call(
        &mut self,
        call: wire::FunctionCall<'_>,
        raw: &RawValue,
    ) -> Result<(), ModelError> {
        if call.partial_args.is_some() || call.will_continue {
            // Never requested, and a call must not run with half of its arguments.
            return Err(protocol_error("the arguments of a call came in pieces"));
        }
        let arguments = call.args.map(RawValue::get).unwrap_or_default();
        self.items.push_call(
            ToolCall::new(call.name, arguments),
            call.id,
            self.response_id.as_deref(),
            raw,
        )
    }

    /// Replaces the counts that a later chunk has.
    fn update_usage(&mut self, later: wire::Usage) {
        let usage = &mut self.usage;
        replace_count(&mut usage.prompt_token_count, later.prompt_token_count);
        replace_count(&mut usage.tool_use_prompt_token_count, later.tool_use_prompt_token_count);
        replace_count(&mut usage.cached_content_token_count, later.cached_content_token_count);
        replace_count(&mut usage.candidates_token_count, later.candidates_token_count);
        replace_count(&mut usage.thoughts_token_count, later.thoughts_token_count);
    }

    fn usage(&self) -> Usage {
        let thoughts = self.usage.thoughts_token_count.unwrap_or_default();
        let prompt = self.usage.prompt_token_count.unwrap_or_default();
        let tool_use = self.usage.tool_use_prompt_token_count.unwrap_or_default();
        let output = self.usage.candidates_token_count.unwrap_or_default();
        let mut usage =
            Usage::new(prompt.saturating_add(tool_use), output.saturating_add(thoughts));
        usage.cached = self.usage.cached_content_token_count.unwrap_or_default();
        usage.reasoning = thoughts;
        usage
    }
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, _: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        // The API has no such marker, but servers that imitate it borrow OpenAI's.
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(Vec::new());
        }
        let chunk: wire::Chunk<'_> = serde_json::from_str(data)
            .map_err(|source| unreadable("a chunk is not in the protocol", data, source))?;
        if chunk.error.is_some() {
            return Err(error::parse_error_body(0, data));
        }
        if let Some(reason) = blocked_message(&chunk.prompt_feedback) {
            return Err(ModelError::new(ModelErrorKind::ContentFilter, reason));
        }
        if let Some(id) = chunk.response_id
            && (1..=MAX_ID_SEED_BYTES).contains(&id.len())
        {
            self.response_id = Some(id);
        }
        self.update_usage(chunk.usage_metadata);
        let Some(candidate) = chunk.candidates.first() else {
            return Ok(Vec::new());
        };
        let candidate: wire::Candidate<'_> =
            serde_json::from_str(candidate.get()).unwrap_or_default();
        let parts = candidate.content.parts;
        if parts.len() > MAX_ITEMS {
            return Err(too_many_items());
        }
        for raw in parts {
            self.read_part(raw)?;
        }
        if let Some(raw) = candidate.grounding_metadata.filter(|raw| search_kind(raw).is_some()) {
            self.grounding = Some(raw.to_owned());
        }
        if !matches!(candidate.finish_reason.as_str(), "" | "FINISH_REASON_UNSPECIFIED") {
            self.finish_reason = Some(candidate.finish_reason);
        }
        Ok(self.items.take_events())
    }

    /// Parses one chunk, or a list of chunks, as a request without `alt=sse` gets.
    fn parse_complete_body(&mut self, json: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let chunks: Vec<&RawValue> = match serde_json::from_str(json) {
            Ok(chunks) => chunks,
            Err(_) => return self.parse_frame("", json),
        };
        let mut events = Vec::new();
        for chunk in chunks {
            events.extend(self.parse_frame("", chunk.get())?);
        }
        Ok(events)
    }

    /// With a finish reason the response is complete, but usage and sources may come after it.
    fn end_of_stream(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        let Some(reason) = self.finish_reason.take() else {
            return Err(response_cut_off());
        };
        self.items.close_text();
        let mut events = self.items.take_events();
        if let Some(raw) = self.grounding.take()
            && let Some(kind) = search_kind(&raw)
        {
            let item = item_with_raw(NAME, kind, &json!({"groundingMetadata": raw}));
            events.push(ModelEvent::Item(item));
        }
        events.push(ModelEvent::Finished {
            stop: stop_reason(reason, self.items.has_calls()),
            usage: self.usage(),
        });
        Ok(events)
    }
}

/// The part with only this text.
fn text_json(is_reasoning: bool, text: &str) -> Value {
    match is_reasoning {
        true => json!({"text": text, "thought": true}),
        false => json!({"text": text}),
    }
}

fn parse_field<'a, T: serde::Deserialize<'a>>(part: &wire::Part<'a>, field: &str) -> Option<T> {
    serde_json::from_str(part.get(field)?.get()).ok()
}
