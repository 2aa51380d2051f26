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
use crate::protocol::json::{Lenient, parse_lenient, replace_count, without_duplicate_fields};
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
        let Some(part) = parse_lenient::<wire::Part<'_>>(raw.get()) else {
            return Ok(());
        };
        if part.is_empty {
            return Ok(());
        }
        if let Some(call) = parse_field(part.function_call) {
            return self.read_call(call, raw);
        }
        let is_reasoning = part.thought;
        let kind = if let Some(call) = parse_field::<wire::HostedTool<'_>>(part.tool_call) {
            hosted_kind(&call.tool_type, call.args, None)
        } else if let Some(result) = parse_field::<wire::HostedTool<'_>>(part.tool_response) {
            hosted_kind(&result.tool_type, None, result.response)
        } else if let Some(text) = part.text {
            match part.has_other_fields {
                false => self.items.push_text(is_reasoning, text),
                true => self.items.push_separate_text(is_reasoning, text.into_owned(), raw),
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
    fn parse_frame(&mut self, _: &str, data: &str) -> Result<(), ModelError> {
        // The API has no such marker, but servers that imitate it borrow OpenAI's.
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let deduplicated;
        let chunk: wire::Chunk<'_> = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(source) => {
                deduplicated = without_duplicate_fields(data).unwrap_or_default();
                serde_json::from_str(&deduplicated)
                    .map_err(|_| unreadable("a chunk is not in the protocol", data, source))?
            }
        };
        if chunk.error.is_some() {
            return Err(error::parse_error_body(0, data));
        }
        if let Some(reason) = blocked_message(&chunk.prompt_feedback) {
            return Err(ModelError::new(ModelErrorKind::ContentFilter, reason));
        }
        if let Some(id) = chunk.response_id
            && (1..=MAX_ID_SEED_BYTES).contains(&id.len())
        {
            match &mut self.response_id {
                Some(known) => (*id).clone_into(known),
                known => *known = Some(id.into_owned()),
            }
        }
        self.update_usage(chunk.usage_metadata);
        let Some(candidate) = chunk.candidates.0 else {
            return Ok(());
        };
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
        Ok(())
    }

    /// Parses one chunk, or a list of chunks, as a request without `alt=sse` gets.
    fn parse_complete_body(&mut self, json: &str) -> Result<(), ModelError> {
        let chunks: Vec<&RawValue> = match serde_json::from_str(json) {
            Ok(chunks) => chunks,
            Err(_) => return self.parse_frame("", json),
        };
        for chunk in chunks {
            self.parse_frame("", chunk.get())?;
        }
        Ok(())
    }

    /// With a finish reason the response is complete, but usage and sources may come after it.
    fn end_of_stream(&mut self) -> Result<(), ModelError> {
        let Some(reason) = self.finish_reason.take() else {
            return Err(response_cut_off());
        };
        self.items.close_text();
        if let Some(raw) = self.grounding.take()
            && let Some(kind) = search_kind(&raw)
        {
            let item = item_with_raw(NAME, kind, &json!({"groundingMetadata": raw}));
            self.items.events.push(ModelEvent::Item(item));
        }
        let stop = stop_reason(reason, self.items.has_calls());
        self.items.events.push(ModelEvent::Finished { stop, usage: self.usage() });
        Ok(())
    }

    fn events(&mut self) -> &mut Vec<ModelEvent> {
        &mut self.items.events
    }
}

/// The part with only this text.
fn text_json(is_reasoning: bool, text: &str) -> Value {
    match is_reasoning {
        true => json!({"text": text, "thought": true}),
        false => json!({"text": text}),
    }
}

fn parse_field<'a, T: Lenient<'a>>(field: Option<&'a RawValue>) -> Option<T> {
    parse_lenient(field?.get())
}
