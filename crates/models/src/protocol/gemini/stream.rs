//! Chunks in, events out.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::item::{
    blocked_message, hosted_kind, reasoning_kind, search_kind, stop_reason, text_kind,
};
use super::{Gemini, error, wire};
use crate::excerpt::excerpt;
use crate::limits::{MAX_CALLS, MAX_ID_SEED_BYTES, MAX_ITEMS, too_many_calls, too_many_items};
use crate::protocol::{Protocol as _, ResponseParser};

/// An answer that is being read.
pub(super) struct StreamParser {
    tools: Arc<ToolPlan>,
    /// The text that the next chunk may go on with.
    open_text: Option<OpenText>,
    call_count: usize,
    call_ids: HashSet<String>,
    /// The vendor's id of the answer.
    response_id: Option<String>,
    grounding: Option<Box<RawValue>>,
    finish_reason: Option<String>,
    usage: wire::Usage,
}

/// Text that came without anything else, which alone may be put together.
struct OpenText {
    is_reasoning: bool,
    text: String,
}

impl StreamParser {
    pub(super) fn new(tools: Arc<ToolPlan>) -> Self {
        Self {
            tools,
            open_text: None,
            call_count: 0,
            call_ids: HashSet::new(),
            response_id: None,
            grounding: None,
            finish_reason: None,
            usage: wire::Usage::default(),
        }
    }

    fn read_part(
        &mut self,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        // Only objects are parts: anything else could not be said again.
        let Ok(part) = serde_json::from_str::<wire::Part<'_>>(raw.get()) else {
            return Ok(());
        };
        if part.is_empty() {
            return Ok(());
        }
        if let Some(call) = parse_field(&part, "functionCall") {
            self.close_text(events);
            return self.read_call(call, raw, events);
        }
        if let Some(asked) = parse_field::<wire::HostedTool<'_>>(&part, "toolCall") {
            self.close_text(events);
            events.push(item_event(
                hosted_kind(&asked.tool_type, asked.args, None),
                raw,
            ));
        } else if let Some(found) = parse_field::<wire::HostedTool<'_>>(&part, "toolResponse") {
            self.close_text(events);
            events.push(item_event(
                hosted_kind(&found.tool_type, None, found.response),
                raw,
            ));
        } else if let Some(text) = parse_field::<String>(&part, "text") {
            let thought = parse_field(&part, "thought") == Some(true);
            let plain = part
                .keys()
                .all(|key| matches!(key.as_str(), "text" | "thought"));
            self.read_text(thought, text, (!plain).then_some(raw), events);
        } else {
            self.close_text(events);
            let thought = parse_field(&part, "thought") == Some(true);
            let kind = match thought {
                true => reasoning_kind(String::new()),
                false => ItemKind::Other,
            };
            events.push(item_event(kind, raw));
        }
        Ok(())
    }

    /// Text that goes on, or with `whole` a text that stays by itself because of what came with it.
    fn read_text(
        &mut self,
        thought: bool,
        text: String,
        whole: Option<&RawValue>,
        events: &mut Vec<ModelEvent>,
    ) {
        if self
            .open_text
            .as_ref()
            .is_some_and(|open| open.is_reasoning != thought)
            || whole.is_some()
        {
            self.close_text(events);
        }
        if !text.is_empty() {
            events.push(match thought {
                true => ModelEvent::Reasoning(text.clone()),
                false => ModelEvent::Text(text.clone()),
            });
        }
        match (whole, &mut self.open_text) {
            (Some(raw), _) => events.push(item_event(text_kind(thought, text), raw)),
            (None, Some(open)) => open.text.push_str(&text),
            // Nothing yet: the last chunk often has such a part beside the reason why it ends.
            (None, None) if text.is_empty() => {}
            (None, open) => {
                *open = Some(OpenText {
                    is_reasoning: thought,
                    text,
                })
            }
        }
    }

    /// Ends the text that was going on.
    fn close_text(&mut self, events: &mut Vec<ModelEvent>) {
        let Some(OpenText {
            is_reasoning: thought,
            text,
        }) = self.open_text.take()
        else {
            return;
        };
        let part = match thought {
            true => json!({"text": text, "thought": true}),
            false => json!({"text": text}),
        };
        let item = Item::new(text_kind(thought, text));
        events.push(ModelEvent::Item(match to_raw_value(&part) {
            Ok(raw) => item.with_raw(Gemini::NAME, raw),
            Err(_) => item,
        }));
    }

    fn read_call(
        &mut self,
        call: wire::FunctionCall<'_>,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if call.partial_args.is_some() || call.will_continue == Some(true) {
            // Nobody asks for it here, and half of the arguments must not run.
            return Err(protocol_error("the arguments of a call came in pieces"));
        }
        if self.call_count >= MAX_CALLS {
            return Err(too_many_calls());
        }
        let index = self.call_count;
        self.call_count += 1;
        let arguments = call.args.map(RawValue::get).unwrap_or_default();
        let mut wished = ToolCall::new(call.name.unwrap_or_default(), arguments);
        let given = call
            .id
            .filter(|id| !id.is_empty() && !self.call_ids.contains(id));
        let made_up = || {
            let response = self.response_id.as_deref()?;
            let id = format!("{response}_{index}");
            (!self.call_ids.contains(&id)).then_some(id)
        };
        if let Some(id) = given.or_else(made_up) {
            wished = wished.with_id(id);
        }
        self.call_ids.insert(wished.id.as_str().to_owned());
        let call = self.tools.lift(wished);
        events.push(ModelEvent::CallBegins {
            index,
            id: call.id.clone(),
            name: call.name.clone(),
        });
        if !arguments.is_empty() {
            events.push(ModelEvent::CallDelta {
                index,
                delta: arguments.to_owned(),
            });
        }
        events.push(item_event(ItemKind::Call { call }, raw));
        Ok(())
    }

    /// Takes over what is told of the tokens: later chunks know better, as far as they say.
    fn update_usage(&mut self, told: wire::Usage) {
        let so_far = self.usage;
        self.usage = wire::Usage {
            prompt_token_count: told.prompt_token_count.or(so_far.prompt_token_count),
            tool_use_prompt_token_count: told
                .tool_use_prompt_token_count
                .or(so_far.tool_use_prompt_token_count),
            cached_content_token_count: told
                .cached_content_token_count
                .or(so_far.cached_content_token_count),
            candidates_token_count: told
                .candidates_token_count
                .or(so_far.candidates_token_count),
            thoughts_token_count: told.thoughts_token_count.or(so_far.thoughts_token_count),
        };
    }

    fn usage(&self) -> Usage {
        let thoughts = self.usage.thoughts_token_count.unwrap_or_default();
        let prompt = self.usage.prompt_token_count.unwrap_or_default();
        let found = self.usage.tool_use_prompt_token_count.unwrap_or_default();
        let said = self.usage.candidates_token_count.unwrap_or_default();
        let mut usage = Usage::new(prompt.saturating_add(found), said.saturating_add(thoughts));
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
        let chunk: wire::Chunk<'_> = serde_json::from_str(data).map_err(|source| {
            let excerpt = excerpt(data);
            protocol_error(&format!("a chunk is not in the protocol: {excerpt}"))
                .with_source(source)
        })?;
        if chunk.error.is_some() {
            return Err(error::parse_error_body(0, data));
        }
        if let Some(reason) = chunk.prompt_feedback.as_ref().and_then(blocked_message) {
            return Err(ModelError::new(ModelErrorKind::ContentFilter, reason));
        }
        if let Some(id) = chunk.response_id
            && (1..=MAX_ID_SEED_BYTES).contains(&id.len())
        {
            self.response_id = Some(id);
        }
        if let Some(told) = chunk.usage_metadata {
            self.update_usage(told);
        }
        let mut events = Vec::new();
        let first = chunk.candidates.unwrap_or_default().into_iter().next();
        let Some(candidate) =
            first.and_then(|raw| serde_json::from_str::<wire::Candidate<'_>>(raw.get()).ok())
        else {
            return Ok(events);
        };
        let parts = candidate.content.and_then(|content| content.parts);
        let parts = parts.unwrap_or_default();
        if parts.len() > MAX_ITEMS {
            return Err(too_many_items());
        }
        for raw in parts {
            self.read_part(raw, &mut events)?;
        }
        if let Some(raw) = candidate
            .grounding_metadata
            .filter(|raw| search_kind(raw).is_some())
        {
            self.grounding = Some(raw.to_owned());
        }
        if let Some(reason) = candidate.finish_reason
            && !matches!(reason.as_str(), "" | "FINISH_REASON_UNSPECIFIED")
        {
            self.finish_reason = Some(reason);
        }
        Ok(events)
    }

    /// One chunk, or a list of them as `streamGenerateContent` answers without `alt=sse`.
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

    /// A reason to finish says that the answer is whole, but tokens and sources may come after it.
    fn end_of_stream(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        let Some(reason) = self.finish_reason.take() else {
            return Err(protocol_error("the answer was cut off"));
        };
        let mut events = Vec::new();
        self.close_text(&mut events);
        if let Some(raw) = self.grounding.take()
            && let Some(kind) = search_kind(&raw)
        {
            let found = Item::new(kind);
            let kept = to_raw_value(&json!({"groundingMetadata": raw}));
            events.push(ModelEvent::Item(match kept {
                Ok(raw) => found.with_raw(Gemini::NAME, raw),
                Err(_) => found,
            }));
        }
        events.push(ModelEvent::Finished {
            stop: stop_reason(reason, self.call_count > 0),
            usage: self.usage(),
        });
        Ok(events)
    }
}

fn item_event(kind: ItemKind, raw: &RawValue) -> ModelEvent {
    ModelEvent::Item(Item::new(kind).with_raw(Gemini::NAME, raw.to_owned()))
}

fn parse_field<'a, T: serde::Deserialize<'a>>(part: &wire::Part<'a>, field: &str) -> Option<T> {
    serde_json::from_str(part.get(field)?.get()).ok()
}

fn protocol_error(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
