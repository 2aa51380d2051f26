//! genai's events in, ModelEvents out.

use std::collections::HashSet;

use genai::ModelIden;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatStreamEvent, ContentPart, StopReason as GenaiStopReason, StreamEnd, ToolCall,
};
use serde_json::value::to_raw_value;
use toolwright::chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};
use toolwright::wire::ToolPlan;

use super::error::to_model_error;
use crate::result::replay_arguments;
use crate::tools::to_tool_call;

/// An answer that is being read.
pub(crate) struct StreamDecoder {
    pub(crate) model: ModelIden,
    pub(crate) plan: ToolPlan,
    /// The ids of all calls of the conversation.
    pub(crate) ids: HashSet<String>,
    /// The calls that were shown, each as genai names it and as it is named here, and how much of it was shown.
    pub(crate) emitted_calls: Vec<(String, String, usize)>,
    pub(crate) is_finished: bool,
}

type Events = Vec<Result<ModelEvent, ModelError>>;

impl StreamDecoder {
    /// Reads an event, or that there are no more; nothing once the answer is over.
    pub(crate) fn decode_event(
        &mut self,
        event: Option<genai::Result<ChatStreamEvent>>,
    ) -> Option<Events> {
        if self.is_finished {
            return None;
        }
        let mut events = Events::new();
        match event {
            Some(Ok(ChatStreamEvent::Chunk(more))) => {
                events.push(Ok(ModelEvent::Text(more.content)))
            }
            Some(Ok(ChatStreamEvent::ReasoningChunk(more))) => {
                events.push(Ok(ModelEvent::Reasoning(more.content)))
            }
            // A call that comes in one piece is shown when the answer is whole.
            Some(Ok(ChatStreamEvent::ToolCallChunk(more)))
                if more.tool_call.fn_arguments.is_string() =>
            {
                self.emit_call_delta(&more.tool_call, &mut events);
            }
            Some(Ok(ChatStreamEvent::End(end))) => self.emit_end(end, &mut events),
            Some(Ok(_)) => {}
            Some(Err(failed)) => events.push(Err(to_model_error(failed))),
            None => events.push(Err(truncated_error())),
        }
        self.is_finished = matches!(events.last(), Some(Err(_) | Ok(ModelEvent::Finished { .. })));
        Some(events)
    }

    /// Shows what is new of a call, and returns its id.
    fn emit_call_delta(&mut self, call: &ToolCall, events: &mut Events) -> String {
        let (asked, given) = (to_tool_call(call), &call.call_id);
        let same = |known: &str| !known.is_empty() && known == given;
        let known = self.emitted_calls.iter().position(|(known, ..)| same(known));
        let index = known.unwrap_or(self.emitted_calls.len());
        if known.is_none() {
            let id = self.unique_call_id(call);
            let name = self.plan.lift(asked.clone()).name;
            self.emitted_calls.push((given.clone(), id.clone(), 0));
            events.push(Ok(ModelEvent::CallBegins { index, id: id.into(), name }));
        }
        let Some((_, id, shown)) = self.emitted_calls.get_mut(index) else {
            return String::new();
        };
        let arguments = asked.arguments.as_str();
        // Arguments grow as text; whole ones are written anew, and were shown if any were.
        let grows = call.fn_arguments.is_string() || *shown == 0;
        if let Some(delta) = arguments.get(*shown..).filter(|delta| grows && !delta.is_empty()) {
            events.push(Ok(ModelEvent::CallDelta { index, delta: delta.to_owned() }));
            *shown = arguments.len();
        }
        id.clone()
    }

    /// An id that no other call has: those that genai makes up for Gemini come again with every answer.
    fn unique_call_id(&mut self, call: &ToolCall) -> String {
        let (mut id, mut number) = (call.call_id.clone(), self.ids.len());
        while id.is_empty() || !self.ids.insert(id.clone()) {
            number += 1;
            // Ids of this form are not sent to Gemini either.
            id = format!("call#{}#{number}", call.fn_name);
        }
        id
    }

    fn emit_end(&mut self, end: StreamEnd, events: &mut Events) {
        let mut parts = end.captured_content.unwrap_or_default();
        if let Some(thoughts) = end.captured_reasoning_content
            && !parts.contains_reasoning_content()
        {
            parts.prepend(ContentPart::ReasoningContent(thoughts));
        }
        let calls = parts.contains_tool_call();
        for part in parts {
            let item = self.item_from_part(part, events);
            events.push(Ok(ModelEvent::Item(item)));
        }
        let stop = match end.captured_stop_reason {
            Some(GenaiStopReason::MaxTokens(_)) => StopReason::Length,
            Some(GenaiStopReason::ContentFilter(word)) if word == "refusal" => StopReason::Refused,
            Some(GenaiStopReason::ContentFilter(_)) => StopReason::Filtered,
            Some(GenaiStopReason::Other(word)) if word == "pause_turn" => StopReason::Paused,
            Some(GenaiStopReason::Other(word)) => StopReason::Other(word),
            // There, genai ends an answer that was cut off as if it were whole.
            None if self.model.adapter_kind == AdapterKind::Gemini => {
                return events.push(Err(truncated_error()));
            }
            _ if calls => StopReason::Calls,
            _ => StopReason::End,
        };
        let usage = to_usage(end.captured_usage.unwrap_or_default());
        events.push(Ok(ModelEvent::Finished { stop, usage }));
    }

    fn item_from_part(&mut self, mut part: ContentPart, events: &mut Events) -> Item {
        let kind = match &mut part {
            ContentPart::Text(text) => ItemKind::Text { text: text.clone() },
            ContentPart::ReasoningContent(text) => ItemKind::Reasoning { text: text.clone() },
            ContentPart::ToolCall(call) => {
                call.call_id = self.emit_call_delta(call, events);
                let shown = self.emitted_calls.iter_mut().find(|(_, id, _)| *id == call.call_id);
                // A call that comes under the same id is another one.
                shown.into_iter().for_each(|(given, ..)| given.clear());
                let asked = self.plan.lift(to_tool_call(call));
                call.fn_arguments = replay_arguments(call.fn_arguments.take());
                ItemKind::Call { call: asked }
            }
            ContentPart::Custom(custom) => {
                // With it, genai does not read back what it wrote.
                custom.model_iden = None;
                ItemKind::Other
            }
            _ => ItemKind::Other,
        };
        match to_raw_value(&part) {
            Ok(raw) => Item::new(kind).with_raw(&protocol_name(&self.model), raw),
            Err(_) => Item::new(kind),
        }
    }
}

/// What genai's own parts are kept under: a signature means nothing to another provider.
pub(crate) fn protocol_name(model: &ModelIden) -> String {
    format!("genai/{}", model.adapter_kind.as_lower_str())
}

fn truncated_error() -> ModelError {
    ModelError::new(ModelErrorKind::Network, "the answer is cut off: its stream ended early")
}

fn to_usage(spent: genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| tokens.try_into().ok()).unwrap_or(0);
    let input = spent.prompt_tokens_details.unwrap_or_default();
    let output = spent.completion_tokens_details.unwrap_or_default();
    let mut usage = Usage::new(count(spent.prompt_tokens), count(spent.completion_tokens));
    usage.cached = count(input.cached_tokens);
    usage.cache_written = count(input.cache_creation_tokens);
    usage.reasoning = count(output.reasoning_tokens);
    usage
}
