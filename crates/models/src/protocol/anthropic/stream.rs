//! Parses the frames of a response into [`ModelEvent`]s.
//!
//! Items are emitted in the order in which their blocks started, even if they end in another.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, StopReason};
use toolwright_core::wire::ToolPlan;

use super::block::Block;
use super::error::parse_error_frame;
use super::wire::{CompleteMessage, Delta, Frame, Usage, text_field};
use super::{NAME, code_execution};
use crate::excerpt::unreadable;
use crate::limits::{MAX_ITEMS, response_cut_off, too_many_items};
use crate::protocol::json::without_duplicate_fields;
use crate::protocol::{ResponseParser, item_with_raw};

/// Parses one response.
pub(super) struct StreamParser {
    tools: Arc<ToolPlan>,
    blocks: VecDeque<OpenBlock>,
    call_count: usize,
    /// The names of hosted tools by the ids of their calls.
    hosted_tool_names: HashMap<String, String>,
    usage: Usage,
    wire_stop_reason: String,
    /// Why the model refused, if the API explains it.
    refusal_explanation: String,
    /// The container in which programs run; empty if there is none.
    container: String,
    is_finished: bool,
    /// The events that were not taken yet.
    events: Vec<ModelEvent>,
}

struct OpenBlock {
    index: Option<u64>,
    block: Block,
    is_ended: bool,
}

impl StreamParser {
    pub(super) fn new(tools: Arc<ToolPlan>) -> Self {
        Self {
            tools,
            blocks: VecDeque::new(),
            call_count: 0,
            hosted_tool_names: HashMap::new(),
            usage: Usage::default(),
            wire_stop_reason: String::new(),
            refusal_explanation: String::new(),
            container: String::new(),
            is_finished: false,
            events: Vec::new(),
        }
    }

    fn start_block(&mut self, index: Option<u64>, block: Block) -> Result<(), ModelError> {
        if self.blocks.len() >= MAX_ITEMS {
            return Err(too_many_items());
        }
        // Servers that give all blocks the same index do not always end one before the next.
        self.end_block(index);
        self.call_count = self.call_count.saturating_add(usize::from(block.is_call()));
        self.events.extend(block.start_events(&self.tools));
        self.blocks.push_back(OpenBlock { index, block, is_ended: false });
        Ok(())
    }

    fn apply_delta(&mut self, index: Option<u64>, delta: Delta<'_>) -> Result<(), ModelError> {
        if self.open_block(index).is_none() {
            let Some(block) = Block::for_orphan_delta(&delta, self.call_count) else {
                return Ok(());
            };
            self.start_block(index, block)?;
        }
        let event = self.open_block(index).and_then(|open| open.block.apply_delta(delta));
        self.events.extend(event);
        Ok(())
    }

    /// The block that a frame belongs to: the last one with this index that has not ended.
    fn open_block(&mut self, index: Option<u64>) -> Option<&mut OpenBlock> {
        let mut blocks = self.blocks.iter_mut().rev();
        blocks.find(|open| !open.is_ended && open.index == index)
    }

    fn end_block(&mut self, index: Option<u64>) {
        if let Some(open) = self.open_block(index) {
            open.is_ended = true;
        }
        self.emit_ended_items();
    }

    /// Removes the ended blocks up to the first that has not ended, and emits their items.
    fn emit_ended_items(&mut self) {
        while let Some(open) = self.blocks.pop_front_if(|open| open.is_ended) {
            let item = open.block.into_item(&self.tools, &mut self.hosted_tool_names);
            self.events.push(ModelEvent::Item(item));
        }
    }

    fn finish(&mut self) {
        self.is_finished = true;
        for open in &mut self.blocks {
            open.is_ended = true;
        }
        self.emit_ended_items();
        let stop = self.stop_reason();
        if stop == StopReason::Refused && !self.refusal_explanation.is_empty() {
            let text = std::mem::take(&mut self.refusal_explanation);
            self.events.push(ModelEvent::Item(Item::new(ItemKind::Refusal { text })));
        }
        // Otherwise no program waits in it, and the next turn gets a new one.
        if stop == StopReason::Calls && !self.container.is_empty() {
            let container = code_execution::container_item(&self.container);
            let item = item_with_raw(NAME, ItemKind::Other, &container);
            self.events.push(ModelEvent::Item(item));
        }
        self.events.push(ModelEvent::Finished { stop, usage: self.usage.to_usage() });
    }

    fn stop_reason(&self) -> StopReason {
        match self.wire_stop_reason.as_str() {
            "tool_use" => StopReason::Calls,
            // Some servers that implement the protocol do not send `tool_use`.
            "end_turn" | "stop_sequence" | "" if self.call_count > 0 => StopReason::Calls,
            "end_turn" | "stop_sequence" | "" => StopReason::End,
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "pause_turn" => StopReason::Paused,
            "refusal" => StopReason::Refused,
            other => StopReason::Other(other.to_owned()),
        }
    }
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, name: &str, data: &str) -> Result<(), ModelError> {
        let data = data.trim();
        if self.is_finished || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let deduplicated;
        let frame: Frame<'_> = match serde_json::from_str(data) {
            Ok(frame) => frame,
            Err(source) => {
                deduplicated = without_duplicate_fields(data).unwrap_or_default();
                match serde_json::from_str(&deduplicated) {
                    Ok(frame) => frame,
                    Err(_) if !is_known_event(name) => return Ok(()),
                    Err(_) => {
                        return Err(unreadable("a frame of the answer is not JSON", data, source));
                    }
                }
            }
        };
        let kind = match &*frame.kind {
            "" => name,
            kind => kind,
        };
        match kind {
            "message_start" => {
                let message = frame.message.unwrap_or_default();
                self.usage.update(message.usage);
                text_field(&message.container, "id").clone_into(&mut self.container);
            }
            "content_block_start" => {
                let block = Block::new(frame.content_block, self.call_count);
                self.start_block(frame.index, block)?
            }
            "content_block_delta" => self.apply_delta(frame.index, frame.delta)?,
            "content_block_stop" => self.end_block(frame.index),
            "message_delta" => {
                self.usage.update(*frame.usage.unwrap_or_default());
                let delta = frame.delta.rest;
                let stop = text_field(&delta, "stop_reason");
                if !stop.is_empty() {
                    self.wire_stop_reason = stop.to_owned();
                }
                if let Some(container) = delta.get("container").and_then(|it| it.as_object()) {
                    text_field(container, "id").clone_into(&mut self.container);
                }
                let details = delta.get("stop_details");
                if let Some(details) = details.and_then(|details| details.as_object()) {
                    self.refusal_explanation = text_field(details, "explanation").to_owned();
                }
            }
            "message_stop" => self.finish(),
            "error" => return Err(parse_error_frame(&frame.error.unwrap_or_default())),
            // Proxies report their own errors without the type `error`.
            "" => {
                if let Some(error) = frame.error {
                    return Err(parse_error_frame(&error));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn parse_complete_body(&mut self, json: &str) -> Result<(), ModelError> {
        let Ok(message) = serde_json::from_str::<CompleteMessage>(json) else {
            return self.parse_frame("", json);
        };
        self.usage.update(message.usage);
        self.wire_stop_reason = message.stop_reason.unwrap_or_default();
        self.refusal_explanation = text_field(&message.stop_details, "explanation").to_owned();
        text_field(&message.container, "id").clone_into(&mut self.container);
        for (index, fields) in message.content.into_iter().enumerate() {
            let index = u64::try_from(index).ok();
            self.start_block(index, Block::new(fields, self.call_count))?;
            self.end_block(index);
        }
        self.finish();
        Ok(())
    }

    fn end_of_stream(&mut self) -> Result<(), ModelError> {
        if self.is_finished {
            return Ok(());
        }
        Err(response_cut_off())
    }

    fn events(&mut self) -> &mut Vec<ModelEvent> {
        &mut self.events
    }
}

/// Returns true if an event's data must be JSON; an event without a name may be any.
fn is_known_event(name: &str) -> bool {
    matches!(
        name,
        "" | "message"
            | "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "message_stop"
            | "error"
    )
}
