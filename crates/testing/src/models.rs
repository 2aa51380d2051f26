//! Models for tests, and their replies: no key, no network, the same answer every time.

pub(crate) mod fn_model;
pub(crate) mod sampled_calls_model;
pub(crate) mod scripted_model;

use std::sync::Arc;

use futures::stream::{self, StreamExt as _};
use toolwright_chat::{
    Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream, StopReason,
    Usage,
};
use toolwright_core::ToolCall;

/// One answer of a model for tests.
#[derive(Debug)]
#[must_use]
pub struct ModelReply {
    items: Vec<Item>,
    stop: Option<StopReason>,
    usage: Usage,
    error: Option<ModelError>,
}

impl ModelReply {
    /// Replies with these items.
    pub fn from_items(items: Vec<Item>) -> Self {
        Self { items, stop: None, usage: Usage::new(10, 5), error: None }
    }

    /// Replies with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from_items(vec![Item::text(text)])
    }

    /// Replies with a call of a tool.
    pub fn call(call: ToolCall) -> Self {
        Self::from_items(vec![Item::call(call)])
    }

    /// Fails with an error.
    pub fn error(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { error: Some(ModelError::new(kind, message)), ..Self::from_items(Vec::new()) }
    }

    /// Fails after the items are streamed.
    pub fn then_error(mut self, kind: ModelErrorKind, message: impl Into<String>) -> Self {
        self.error = Some(ModelError::new(kind, message));
        self
    }

    /// Adds one more item.
    pub fn with_item(mut self, item: Item) -> Self {
        self.items.push(item);
        self
    }

    /// Sets the stop reason; the default follows from the items.
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Sets the usage; the default is 10 tokens in and 5 out.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Streams it as a vendor would: the deltas of an item, then the complete item, and the end last.
    pub fn into_stream(self) -> ModelStream {
        let mut events = Vec::new();
        let mut calls = 0;
        for item in self.items {
            match &item.kind {
                ItemKind::Text { text } => {
                    let pieces = text.split_inclusive(' ');
                    events.extend(pieces.map(|piece| Ok(ModelEvent::Text(piece.to_owned()))));
                }
                ItemKind::Reasoning { text } => {
                    events.push(Ok(ModelEvent::Reasoning(text.clone())))
                }
                ItemKind::Call { call } => {
                    let index = calls;
                    calls += 1;
                    events.push(Ok(ModelEvent::CallBegins {
                        index,
                        id: call.id.clone(),
                        name: call.name.clone(),
                    }));
                    events.push(Ok(ModelEvent::CallDelta {
                        index,
                        delta: call.arguments.as_str().to_owned(),
                    }));
                }
                _ => {}
            }
            events.push(Ok(ModelEvent::Item(item)));
        }
        let default_stop = match calls {
            0 => StopReason::End,
            _ => StopReason::Calls,
        };
        events.push(match self.error {
            Some(error) => Err(error),
            None => Ok(ModelEvent::Finished {
                stop: self.stop.unwrap_or(default_stop),
                usage: self.usage,
            }),
        });
        stream::iter(events).boxed()
    }
}

impl From<&str> for ModelReply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ModelReply {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ToolCall> for ModelReply {
    fn from(call: ToolCall) -> Self {
        Self::call(call)
    }
}

type ReplyFn = Arc<dyn Fn(&ModelRequest) -> ModelReply + Send + Sync>;
