//! Lines in, events out.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::Plan;

use super::{Ollama, error, wire};
use crate::bounds::{LONGEST_SEED, MOST_CALLS, too_many_calls};
use crate::excerpt::excerpt;
use crate::protocol::{Protocol as _, Reader};

/// An answer that is being read.
pub(super) struct Answer {
    tools: Arc<Plan>,
    /// The text that the next line may go on with.
    open: Option<Open>,
    calls: usize,
    ids: HashSet<String>,
    done: bool,
}

struct Open {
    thinking: bool,
    text: String,
}

impl Answer {
    pub(super) fn new(tools: Arc<Plan>) -> Self {
        Self {
            tools,
            open: None,
            calls: 0,
            ids: HashSet::new(),
            done: false,
        }
    }

    fn text(&mut self, thinking: bool, text: String, events: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.thinking != thinking)
        {
            self.close(events);
        }
        events.push(match thinking {
            true => ModelEvent::Reasoning(text.clone()),
            false => ModelEvent::Text(text.clone()),
        });
        match &mut self.open {
            Some(open) => open.text.push_str(&text),
            open => *open = Some(Open { thinking, text }),
        }
    }

    /// Ends the text that was going on.
    fn close(&mut self, events: &mut Vec<ModelEvent>) {
        let Some(Open { thinking, text }) = self.open.take() else {
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

    fn call(&mut self, raw: &RawValue, at: Option<&str>, events: &mut Vec<ModelEvent>) {
        // Only objects are calls: anything else could not be said again.
        if !raw.get().starts_with('{') {
            return;
        }
        self.close(events);
        let keep = |kind| {
            let item = Item::new(kind).with_raw(Ollama::NAME, raw.to_owned());
            ModelEvent::Item(item)
        };
        let call: wire::Call<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let Some(function) = call.function else {
            events.push(keep(ItemKind::Other));
            return;
        };
        let index = self.calls;
        self.calls += 1;
        let arguments = arguments(function.arguments);
        let mut wished = ToolCall::new(function.name.unwrap_or_default(), arguments.as_str());
        let given = call
            .id
            .filter(|id| !id.is_empty() && !self.ids.contains(id));
        if let Some(id) = given.or_else(|| self.made_up(at?, index)) {
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
                delta: arguments,
            });
        }
        events.push(keep(ItemKind::Call { call }));
    }

    /// An id from the time of the line, so that it names one call of the conversation and is the same when read again.
    fn made_up(&self, at: &str, index: usize) -> Option<String> {
        let digits = at.chars().filter(char::is_ascii_digit);
        let digits: String = digits.take(LONGEST_SEED).collect();
        let id = format!("call_{digits}_{index}");
        (!digits.is_empty() && !self.ids.contains(&id)).then_some(id)
    }
}

impl Reader for Answer {
    fn frame(&mut self, _: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let mut events = Vec::new();
        if self.done || data.trim().is_empty() {
            return Ok(events);
        }
        let line: wire::Line<'_> = serde_json::from_str(data).map_err(|source| {
            let excerpt = excerpt(data);
            broken(&format!("a line is not in the protocol: {excerpt}")).with_source(source)
        })?;
        if line.error.is_some() {
            return Err(error::error(0, data));
        }
        let message = line.message.unwrap_or_default();
        self.text(true, message.thinking.unwrap_or_default(), &mut events);
        self.text(false, message.content.unwrap_or_default(), &mut events);
        let calls = message.tool_calls.unwrap_or_default();
        if self.calls.saturating_add(calls.len()) > MOST_CALLS {
            return Err(too_many_calls());
        }
        for raw in calls {
            self.call(raw, line.created_at.as_deref(), &mut events);
        }
        if line.done == Some(true) {
            self.done = true;
            self.close(&mut events);
            let input = line.prompt_eval_count.unwrap_or_default();
            let output = line.eval_count.unwrap_or_default();
            events.push(ModelEvent::Finished {
                stop: stop(line.done_reason.unwrap_or_default(), self.calls > 0),
                usage: Usage::new(input, output),
            });
        }
        Ok(events)
    }

    fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        match self.done {
            true => Ok(Vec::new()),
            false => Err(broken("the answer was cut off")),
        }
    }
}

/// An object as its text; a text, which some servers send instead, as it is.
fn arguments(raw: Option<&RawValue>) -> String {
    let text = raw.map(RawValue::get).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
}

fn stop(reason: String, calls: bool) -> StopReason {
    match reason.as_str() {
        // Older servers give no reason.
        "stop" | "tool_calls" | "" if calls => StopReason::Calls,
        "stop" | "" => StopReason::End,
        "length" => StopReason::Length,
        _ => StopReason::Other(reason),
    }
}

fn broken(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
