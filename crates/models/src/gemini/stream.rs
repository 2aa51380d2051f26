//! Chunks in, events out.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::Plan;

use super::item::{blocked, hosted, reasoning, said, searched, stop};
use super::{Gemini, error, wire};
use crate::bounds::{LONGEST_SEED, MOST_CALLS, MOST_ITEMS, too_many_calls, too_many_items};
use crate::excerpt::excerpt;
use crate::protocol::{Protocol as _, Reader};

/// An answer that is being read.
pub(super) struct Answer {
    tools: Arc<Plan>,
    /// The text that the next chunk may go on with.
    open: Option<Open>,
    calls: usize,
    ids: HashSet<String>,
    /// The vendor's id of the answer.
    response: Option<String>,
    grounding: Option<Box<RawValue>>,
    finish: Option<String>,
    usage: wire::Usage,
}

/// Text that came without anything else, which alone may be put together.
struct Open {
    thought: bool,
    text: String,
}

impl Answer {
    pub(super) fn new(tools: Arc<Plan>) -> Self {
        Self {
            tools,
            open: None,
            calls: 0,
            ids: HashSet::new(),
            response: None,
            grounding: None,
            finish: None,
            usage: wire::Usage::default(),
        }
    }

    fn part(&mut self, raw: &RawValue, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        // Only objects are parts: anything else could not be said again.
        let Ok(part) = serde_json::from_str::<wire::Part<'_>>(raw.get()) else {
            return Ok(());
        };
        if part.is_empty() {
            return Ok(());
        }
        if let Some(call) = read(&part, "functionCall") {
            self.close(events);
            return self.call(call, raw, events);
        }
        if let Some(asked) = read::<wire::HostedTool<'_>>(&part, "toolCall") {
            self.close(events);
            events.push(item(hosted(&asked.tool_type, asked.args, None), raw));
        } else if let Some(found) = read::<wire::HostedTool<'_>>(&part, "toolResponse") {
            self.close(events);
            events.push(item(hosted(&found.tool_type, None, found.response), raw));
        } else if let Some(text) = read::<String>(&part, "text") {
            let thought = read(&part, "thought") == Some(true);
            let plain = part
                .keys()
                .all(|key| matches!(key.as_str(), "text" | "thought"));
            self.text(thought, text, (!plain).then_some(raw), events);
        } else {
            self.close(events);
            let thought = read(&part, "thought") == Some(true);
            let kind = match thought {
                true => reasoning(String::new()),
                false => ItemKind::Other,
            };
            events.push(item(kind, raw));
        }
        Ok(())
    }

    /// Text that goes on, or with `whole` a text that stays by itself because of what came with it.
    fn text(
        &mut self,
        thought: bool,
        text: String,
        whole: Option<&RawValue>,
        events: &mut Vec<ModelEvent>,
    ) {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.thought != thought)
            || whole.is_some()
        {
            self.close(events);
        }
        if !text.is_empty() {
            events.push(match thought {
                true => ModelEvent::Reasoning(text.clone()),
                false => ModelEvent::Text(text.clone()),
            });
        }
        match (whole, &mut self.open) {
            (Some(raw), _) => events.push(item(said(thought, text), raw)),
            (None, Some(open)) => open.text.push_str(&text),
            // Nothing yet: the last chunk often has such a part beside the reason why it ends.
            (None, None) if text.is_empty() => {}
            (None, open) => *open = Some(Open { thought, text }),
        }
    }

    /// Ends the text that was going on.
    fn close(&mut self, events: &mut Vec<ModelEvent>) {
        let Some(Open { thought, text }) = self.open.take() else {
            return;
        };
        let part = match thought {
            true => json!({"text": text, "thought": true}),
            false => json!({"text": text}),
        };
        let item = Item::new(said(thought, text));
        events.push(ModelEvent::Item(match to_raw_value(&part) {
            Ok(raw) => item.with_raw(Gemini::NAME, raw),
            Err(_) => item,
        }));
    }

    fn call(
        &mut self,
        call: wire::FunctionCall<'_>,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if call.partial_args.is_some() || call.will_continue == Some(true) {
            // Nobody asks for it here, and half of the arguments must not run.
            return Err(broken("the arguments of a call came in pieces"));
        }
        if self.calls >= MOST_CALLS {
            return Err(too_many_calls());
        }
        let index = self.calls;
        self.calls += 1;
        let arguments = call.args.map(RawValue::get).unwrap_or_default();
        let mut wished = ToolCall::new(call.name.unwrap_or_default(), arguments);
        let given = call
            .id
            .filter(|id| !id.is_empty() && !self.ids.contains(id));
        let made_up = || {
            let response = self.response.as_deref()?;
            let id = format!("{response}_{index}");
            (!self.ids.contains(&id)).then_some(id)
        };
        if let Some(id) = given.or_else(made_up) {
            wished = wished.with_id(id);
        }
        self.ids.insert(wished.id.as_str().to_owned());
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
        events.push(item(ItemKind::Call { call }, raw));
        Ok(())
    }

    /// Takes over what is told of the tokens: later chunks know better, as far as they say.
    fn count(&mut self, told: wire::Usage) {
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

impl Reader for Answer {
    fn frame(&mut self, _: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        // The API has no such marker, but servers that imitate it borrow OpenAI's.
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(Vec::new());
        }
        let chunk: wire::Chunk<'_> = serde_json::from_str(data).map_err(|source| {
            let excerpt = excerpt(data);
            broken(&format!("a chunk is not in the protocol: {excerpt}")).with_source(source)
        })?;
        if chunk.error.is_some() {
            return Err(error::error(0, data));
        }
        if let Some(reason) = chunk.prompt_feedback.as_ref().and_then(blocked) {
            return Err(ModelError::new(ModelErrorKind::ContentFilter, reason));
        }
        if let Some(id) = chunk.response_id
            && (1..=LONGEST_SEED).contains(&id.len())
        {
            self.response = Some(id);
        }
        if let Some(told) = chunk.usage_metadata {
            self.count(told);
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
        if parts.len() > MOST_ITEMS {
            return Err(too_many_items());
        }
        for raw in parts {
            self.part(raw, &mut events)?;
        }
        if let Some(raw) = candidate
            .grounding_metadata
            .filter(|raw| searched(raw).is_some())
        {
            self.grounding = Some(raw.to_owned());
        }
        if let Some(reason) = candidate.finish_reason
            && !matches!(reason.as_str(), "" | "FINISH_REASON_UNSPECIFIED")
        {
            self.finish = Some(reason);
        }
        Ok(events)
    }

    /// One chunk, or a list of them as `streamGenerateContent` answers without `alt=sse`.
    fn whole(&mut self, json: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let chunks: Vec<&RawValue> = match serde_json::from_str(json) {
            Ok(chunks) => chunks,
            Err(_) => return self.frame("", json),
        };
        let mut events = Vec::new();
        for chunk in chunks {
            events.extend(self.frame("", chunk.get())?);
        }
        Ok(events)
    }

    /// A reason to finish says that the answer is whole, but tokens and sources may come after it.
    fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        let Some(reason) = self.finish.take() else {
            return Err(broken("the answer was cut off"));
        };
        let mut events = Vec::new();
        self.close(&mut events);
        if let Some(raw) = self.grounding.take()
            && let Some(kind) = searched(&raw)
        {
            let found = Item::new(kind);
            let kept = to_raw_value(&json!({"groundingMetadata": raw}));
            events.push(ModelEvent::Item(match kept {
                Ok(raw) => found.with_raw(Gemini::NAME, raw),
                Err(_) => found,
            }));
        }
        events.push(ModelEvent::Finished {
            stop: stop(reason, self.calls > 0),
            usage: self.usage(),
        });
        Ok(events)
    }
}

fn item(kind: ItemKind, raw: &RawValue) -> ModelEvent {
    ModelEvent::Item(Item::new(kind).with_raw(Gemini::NAME, raw.to_owned()))
}

fn read<'a, T: serde::Deserialize<'a>>(part: &wire::Part<'a>, field: &str) -> Option<T> {
    serde_json::from_str(part.get(field)?.get()).ok()
}

fn broken(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
