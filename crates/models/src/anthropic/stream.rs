//! Frames of the stream in, `ModelEvent`s out.
//!
//! Items come in the order in which their blocks began, even from servers that end them in another.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason};
use toolwright_core::wire::Plan;

use super::block::Block;
use super::error::in_stream;
use super::wire::{Delta, Frame, Usage, Whole, text};
use crate::bounds::{MOST_ITEMS, too_many_items};
use crate::excerpt::excerpt;
use crate::protocol::Reader;

/// Reads one answer.
pub(super) struct Stream {
    tools: Arc<Plan>,
    blocks: VecDeque<Streamed>,
    calls: usize,
    /// The names of the vendor's tools by the ids of their calls.
    hosted: HashMap<String, String>,
    usage: Usage,
    stop: String,
    /// Why the model refuses, where that is said.
    refusal: String,
    finished: bool,
}

struct Streamed {
    index: Option<u64>,
    block: Block,
    ended: bool,
}

impl Stream {
    pub(super) fn new(tools: Arc<Plan>) -> Self {
        Self {
            tools,
            blocks: VecDeque::new(),
            calls: 0,
            hosted: HashMap::new(),
            usage: Usage::default(),
            stop: String::new(),
            refusal: String::new(),
            finished: false,
        }
    }

    fn start(&mut self, index: Option<u64>, block: Block) -> Result<Vec<ModelEvent>, ModelError> {
        if self.blocks.len() >= MOST_ITEMS {
            return Err(too_many_items());
        }
        // Servers that number every block alike do not always end one before the next.
        if let Some(before) = self.open(index) {
            before.ended = true;
        }
        self.calls = self.calls.saturating_add(usize::from(block.is_call()));
        let mut events = self.whole_blocks();
        events.extend(block.begun(&self.tools));
        self.blocks.push_back(Streamed {
            index,
            block,
            ended: false,
        });
        Ok(events)
    }

    fn delta(
        &mut self,
        index: Option<u64>,
        delta: Delta<'_>,
    ) -> Result<Vec<ModelEvent>, ModelError> {
        let mut events = Vec::new();
        if self.open(index).is_none() {
            let Some(block) = Block::implied(&delta, self.calls) else {
                return Ok(events);
            };
            events = self.start(index, block)?;
        }
        let open = self.open(index);
        events.extend(open.and_then(|streamed| streamed.block.add(delta)));
        Ok(events)
    }

    /// The block that a frame is about: the last one of that number that has not ended.
    fn open(&mut self, index: Option<u64>) -> Option<&mut Streamed> {
        let mut blocks = self.blocks.iter_mut().rev();
        blocks.find(|streamed| !streamed.ended && streamed.index == index)
    }

    /// The items of all blocks that have ended, up to the first that has not.
    fn whole_blocks(&mut self) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        while let Some(streamed) = self.blocks.pop_front() {
            if !streamed.ended {
                self.blocks.push_front(streamed);
                break;
            }
            let item = streamed.block.whole(&self.tools, &mut self.hosted);
            events.push(ModelEvent::Item(item));
        }
        events
    }

    fn finish(&mut self) -> Vec<ModelEvent> {
        self.finished = true;
        for streamed in &mut self.blocks {
            streamed.ended = true;
        }
        let mut events = self.whole_blocks();
        let stop = self.stop();
        if stop == StopReason::Refused && !self.refusal.is_empty() {
            let text = std::mem::take(&mut self.refusal);
            events.push(ModelEvent::Item(Item::new(ItemKind::Refusal { text })));
        }
        events.push(ModelEvent::Finished {
            stop,
            usage: self.usage.total(),
        });
        events
    }

    fn stop(&self) -> StopReason {
        match self.stop.as_str() {
            "tool_use" => StopReason::Calls,
            // Not every server that speaks the protocol knows the word for calls.
            "end_turn" | "stop_sequence" | "" if self.calls > 0 => StopReason::Calls,
            "end_turn" | "stop_sequence" | "" => StopReason::End,
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "pause_turn" => StopReason::Paused,
            "refusal" => StopReason::Refused,
            other => StopReason::Other(other.to_owned()),
        }
    }
}

impl Reader for Stream {
    fn frame(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let data = data.trim();
        if self.finished || data.is_empty() || data == "[DONE]" {
            return Ok(Vec::new());
        }
        let frame: Frame<'_> = match serde_json::from_str(data) {
            Ok(frame) => frame,
            Err(_) if !is_known(name) => return Ok(Vec::new()),
            Err(error) => return Err(garbage(data).with_source(error)),
        };
        let kind = match frame.kind.as_str() {
            "" => name,
            kind => kind,
        };
        let events = match kind {
            "message_start" => {
                self.usage.update(frame.message.usage);
                Vec::new()
            }
            "content_block_start" => {
                let block = Block::new(frame.content_block, self.calls);
                self.start(frame.index, block)?
            }
            "content_block_delta" => self.delta(frame.index, Delta::read(frame.delta))?,
            "content_block_stop" => {
                if let Some(streamed) = self.open(frame.index) {
                    streamed.ended = true;
                }
                self.whole_blocks()
            }
            "message_delta" => {
                self.usage.update(frame.usage);
                let delta = Delta::read(frame.delta).fields();
                let stop = text(&delta, "stop_reason");
                if !stop.is_empty() {
                    self.stop = stop.to_owned();
                }
                let details = delta.get("stop_details");
                if let Some(details) = details.and_then(|details| details.as_object()) {
                    self.refusal = text(details, "explanation").to_owned();
                }
                Vec::new()
            }
            "message_stop" => self.finish(),
            "error" => return Err(in_stream(&frame.error.unwrap_or_default())),
            // Proxies report their own trouble without saying that it is an error.
            "" => match frame.error {
                Some(error) => return Err(in_stream(&error)),
                None => Vec::new(),
            },
            _ => Vec::new(),
        };
        Ok(events)
    }

    fn whole(&mut self, json: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let Ok(message) = serde_json::from_str::<Whole>(json) else {
            return self.frame("", json);
        };
        self.usage.update(message.usage);
        self.stop = message.stop_reason.unwrap_or_default();
        self.refusal = text(&message.stop_details, "explanation").to_owned();
        let mut events = Vec::new();
        for (index, fields) in message.content.into_iter().enumerate() {
            let index = u64::try_from(index).ok();
            events.extend(self.start(index, Block::new(fields, self.calls))?);
            if let Some(streamed) = self.open(index) {
                streamed.ended = true;
            }
            events.extend(self.whole_blocks());
        }
        events.extend(self.finish());
        Ok(events)
    }

    fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if self.finished {
            return Ok(Vec::new());
        }
        let kind = ModelErrorKind::Protocol;
        Err(ModelError::new(kind, "the answer was cut off"))
    }
}

/// Whether an event's name promises JSON that matters; without a name it might.
fn is_known(name: &str) -> bool {
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

fn garbage(data: &str) -> ModelError {
    let message = format!("a frame of the answer is not JSON: {}", excerpt(data));
    ModelError::new(ModelErrorKind::Protocol, message)
}
