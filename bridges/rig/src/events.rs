//! Converts the history of a conversation for a rig agent, and the stream of its run to events of the conversation.

use std::time::Instant;

use futures::stream::{self, Stream, StreamExt as _};
use rig::agent::MultiTurnStreamItem;
use rig::completion::{FinishReason, PromptError};
use rig::message::{AssistantContent, AssistantMessage, ToolFunction, ToolName};
use rig::streaming::{Item, StreamEvent};
use serde_json::Value;
use toolwright::chat::{ChatEvent, ItemKind, Message, StopReason, TurnEnd, Usage};
use toolwright::{Content, ToolCall};

use crate::result::{from_rig_message, to_content_blocks};

/// Converts the messages of `Session::history` for `history` of a run.
pub fn history(messages: &[Message]) -> Vec<rig::message::Message> {
    let words = |content: &[Content]| Content::join_text(content).into_owned();
    let messages = messages.iter().filter_map(|message| match message {
        Message::User(content) => Some(rig::message::Message::user(words(content))),
        Message::Assistant(content) => Some(rig::message::Message::assistant(words(content))),
        Message::Step(step) => {
            let parts = step.items.iter().filter_map(|item| match &item.kind {
                ItemKind::Text { text } => Some(AssistantContent::text(text)),
                ItemKind::Call { call } => Some(AssistantContent::ToolCall(to_rig_call(call)?)),
                _ => None,
            });
            Some(AssistantMessage::new(parts.collect()).into())
        }
        Message::Results(results) => {
            let results = results.iter().filter_map(|result| {
                let call = ToolCall::new(&result.tool, "{}").with_id(result.call_id.clone());
                Some(match result.is_error() {
                    true => to_rig_call(&call)?.error_result(to_content_blocks(result)),
                    false => to_rig_call(&call)?.result(to_content_blocks(result)),
                })
            });
            Some(rig::message::Message::tool_results(results.collect()))
        }
        _ => None,
    });
    messages.collect()
}

fn to_rig_call(call: &ToolCall) -> Option<rig::message::ToolCall> {
    let name = ToolName::new(call.name.as_str()).ok()?;
    let function = ToolFunction::parse(name, call.arguments.as_str());
    Some(rig::message::ToolCall::from_wire(call.id.as_str(), function))
}

/// Converts the stream of an agent to events of a conversation, for `Session::forward`.
///
/// The last one is `TurnEnded`, also when the run fails. Only calls that rig has accepted become events.
pub fn events(
    run: impl Stream<Item = Result<MultiTurnStreamItem, PromptError>> + Send,
) -> impl Stream<Item = ChatEvent> + Send {
    let mut teller = StreamConverter::default();
    run.flat_map(move |item| stream::iter(teller.convert_item(item)))
}

#[derive(Default)]
struct StreamConverter {
    /// A step whose calls may be yet to come: rig reports them after its end, a conversation before it.
    pending_step: Option<ChatEvent>,
    usage: rig::completion::Usage,
    call_started_at: Option<Instant>,
}

impl StreamConverter {
    fn convert_item(&mut self, item: Result<MultiTurnStreamItem, PromptError>) -> Vec<ChatEvent> {
        let event = match item {
            Ok(MultiTurnStreamItem::ToolCall { tool_call }) => {
                self.call_started_at = Some(Instant::now());
                return vec![call_event(tool_call)];
            }
            Ok(MultiTurnStreamItem::CompletionCall(call)) => {
                self.usage += call.usage;
                let (usage, cost) = to_usage(&call.usage);
                let stop = call.finish_reason.map_or(StopReason::End, to_stop_reason);
                let before = self.pending_step.replace(ChatEvent::Step { stop, usage, cost });
                return before.into_iter().collect();
            }
            Ok(MultiTurnStreamItem::StreamAssistantItem(Item::Event(event))) => match event {
                StreamEvent::Text { text: delta, .. } => Some(ChatEvent::Text { delta }),
                StreamEvent::Reasoning { text: delta, .. } => Some(ChatEvent::Reasoning { delta }),
                _ => None,
            },
            Ok(MultiTurnStreamItem::ToolResult { tool_result }) => {
                // The results of a step's calls are reported when the last one is done.
                let millis = self.call_started_at.map_or(0, |called| called.elapsed().as_millis());
                Some(ChatEvent::Result {
                    result: from_rig_message(&tool_result),
                    millis: millis.try_into().unwrap_or(u64::MAX),
                })
            }
            Ok(MultiTurnStreamItem::FinalResponse(response)) => {
                let last = response.completion_calls().last();
                let end = match last.and_then(|call| call.finish_reason.as_ref()) {
                    Some(FinishReason::Length) => TurnEnd::Length,
                    _ => TurnEnd::Answered,
                };
                Some(self.turn_ended_event(end, vec![Content::text(response.output())]))
            }
            // What else there is has no place in a conversation.
            Ok(_) => None,
            Err(error) => {
                let reason = error.to_string();
                let end = match error {
                    PromptError::MaxTurns { .. } => TurnEnd::Limit { reason },
                    _ => TurnEnd::Failed { reason },
                };
                Some(self.turn_ended_event(end, Vec::new()))
            }
        };
        self.pending_step.take().into_iter().chain(event).collect()
    }

    fn turn_ended_event(&self, end: TurnEnd, content: Vec<Content>) -> ChatEvent {
        let (usage, cost) = to_usage(&self.usage);
        ChatEvent::TurnEnded { end, content, usage, cost }
    }
}

fn call_event(call: rig::message::ToolCall) -> ChatEvent {
    let function = call.function;
    let arguments = match function.invalid_arguments {
        Some(text) => text,
        None => Value::Object(function.arguments).to_string(),
    };
    let called = ToolCall::new(function.name.as_str(), arguments);
    let call = called.with_id(call.id.to_string());
    ChatEvent::Call { call }
}

fn to_stop_reason(reason: FinishReason) -> StopReason {
    match reason {
        FinishReason::Length => StopReason::Length,
        FinishReason::ToolCalls => StopReason::Calls,
        FinishReason::ContentFilter => StopReason::Filtered,
        FinishReason::Other(word) => StopReason::Other(word),
        _ => StopReason::End,
    }
}

fn to_usage(usage: &rig::completion::Usage) -> (Usage, Option<f64>) {
    let count = |tokens: Option<u64>| tokens.unwrap_or_default();
    let mut used = Usage::new(count(usage.input_tokens), count(usage.output_tokens));
    used.cached = count(usage.cached_input_tokens);
    used.cache_written = count(usage.cache_creation_input_tokens);
    used.reasoning = count(usage.reasoning_tokens);
    (used, usage.cost.map(|cost| cost.total))
}
