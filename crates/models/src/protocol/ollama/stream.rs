//! Lines in, events out.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::{Ollama, error, wire};
use crate::excerpt::excerpt;
use crate::limits::{MAX_CALLS, MAX_ID_SEED_BYTES, too_many_calls};
use crate::protocol::{Protocol as _, ResponseParser};

/// An answer that is being read.
pub(super) struct StreamParser {
    tools: Arc<ToolPlan>,
    /// The text that the next line may go on with.
    open_text: Option<OpenText>,
    call_count: usize,
    call_ids: HashSet<String>,
    is_finished: bool,
}

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
            is_finished: false,
        }
    }

    fn read_text(&mut self, thinking: bool, text: String, events: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        if self
            .open_text
            .as_ref()
            .is_some_and(|open| open.is_reasoning != thinking)
        {
            self.close_text(events);
        }
        events.push(match thinking {
            true => ModelEvent::Reasoning(text.clone()),
            false => ModelEvent::Text(text.clone()),
        });
        match &mut self.open_text {
            Some(open) => open.text.push_str(&text),
            open => {
                *open = Some(OpenText {
                    is_reasoning: thinking,
                    text,
                })
            }
        }
    }

    /// Ends the text that was going on.
    fn close_text(&mut self, events: &mut Vec<ModelEvent>) {
        let Some(OpenText {
            is_reasoning: thinking,
            text,
        }) = self.open_text.take()
        else {
            return;
        };
        let raw = match thinking {
            true => to_raw_value(&json!({"thinking": text})),
            false => to_raw_value(&json!({"content": text})),
        };
        let item = Item::new(match thinking {
            true => ItemKind::Reasoning { text },
            false => ItemKind::Text { text },
        });
        events.push(ModelEvent::Item(match raw {
            Ok(raw) => item.with_raw(Ollama::NAME, raw),
            Err(_) => item,
        }));
    }

    fn read_call(&mut self, raw: &RawValue, at: Option<&str>, events: &mut Vec<ModelEvent>) {
        // Only objects are calls: anything else could not be said again.
        if !raw.get().starts_with('{') {
            return;
        }
        self.close_text(events);
        let keep = |kind| {
            let item = Item::new(kind).with_raw(Ollama::NAME, raw.to_owned());
            ModelEvent::Item(item)
        };
        let call: wire::Call<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let Some(function) = call.function else {
            events.push(keep(ItemKind::Other));
            return;
        };
        let index = self.call_count;
        self.call_count += 1;
        let arguments = arguments_text(function.arguments);
        let mut wished = ToolCall::new(function.name.unwrap_or_default(), arguments.as_str());
        let given = call
            .id
            .filter(|id| !id.is_empty() && !self.call_ids.contains(id));
        if let Some(id) = given.or_else(|| self.id_from_timestamp(at?, index)) {
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
                delta: arguments,
            });
        }
        events.push(keep(ItemKind::Call { call }));
    }

    /// An id from the time of the line, so that it names one call of the conversation and is the same when read again.
    fn id_from_timestamp(&self, at: &str, index: usize) -> Option<String> {
        let digits = at.chars().filter(char::is_ascii_digit);
        let digits: String = digits.take(MAX_ID_SEED_BYTES).collect();
        let id = format!("call_{digits}_{index}");
        (!digits.is_empty() && !self.call_ids.contains(&id)).then_some(id)
    }
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, _: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let mut events = Vec::new();
        if self.is_finished || data.trim().is_empty() {
            return Ok(events);
        }
        let line: wire::Line<'_> = serde_json::from_str(data).map_err(|source| {
            let excerpt = excerpt(data);
            protocol_error(&format!("a line is not in the protocol: {excerpt}")).with_source(source)
        })?;
        if line.error.is_some() {
            return Err(error::parse_error_body(0, data));
        }
        let message = line.message.unwrap_or_default();
        self.read_text(true, message.thinking.unwrap_or_default(), &mut events);
        self.read_text(false, message.content.unwrap_or_default(), &mut events);
        let calls = message.tool_calls.unwrap_or_default();
        if self.call_count.saturating_add(calls.len()) > MAX_CALLS {
            return Err(too_many_calls());
        }
        for raw in calls {
            self.read_call(raw, line.created_at.as_deref(), &mut events);
        }
        if line.done == Some(true) {
            self.is_finished = true;
            self.close_text(&mut events);
            let input = line.prompt_eval_count.unwrap_or_default();
            let output = line.eval_count.unwrap_or_default();
            events.push(ModelEvent::Finished {
                stop: stop_reason(line.done_reason.unwrap_or_default(), self.call_count > 0),
                usage: Usage::new(input, output),
            });
        }
        Ok(events)
    }

    fn end_of_stream(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        match self.is_finished {
            true => Ok(Vec::new()),
            false => Err(protocol_error("the answer was cut off")),
        }
    }
}

/// An object as its text; a text, which some servers send instead, as it is.
fn arguments_text(raw: Option<&RawValue>) -> String {
    let text = raw.map(RawValue::get).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
}

fn stop_reason(reason: String, calls: bool) -> StopReason {
    match reason.as_str() {
        // Older servers give no reason.
        "stop" | "tool_calls" | "" if calls => StopReason::Calls,
        "stop" | "" => StopReason::End,
        "length" => StopReason::Length,
        _ => StopReason::Other(reason),
    }
}

fn protocol_error(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
