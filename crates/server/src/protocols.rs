//! The protocols of clients: native, AI SDK, AG-UI, OpenAI, and calls in the same process.
//!
//! A streaming protocol is an [`EventEncoder`], which does no I/O, and a route that streams it with [`turn_stream`] and [`sse`].

use serde_json::Value;
use toolwright_chat::ChatEvent;
use toolwright_core::Content;

use crate::conversation::event::{ConversationEvent, EndpointEvent};

pub(crate) mod ag_ui;
pub(crate) mod ai_sdk;
pub(crate) mod in_process;
pub(crate) mod native;
pub(crate) mod openai;
pub(crate) mod sse;
pub(crate) mod turn_stream;
#[cfg_attr(not(feature = "websocket"), path = "protocols/websocket_disabled.rs")]
pub(crate) mod websocket;

/// Encodes the events of a turn as the JSON messages of a protocol.
pub(crate) trait EventEncoder: Send + 'static {
    /// The messages at the start of the stream.
    fn start(&mut self) -> Vec<Value> {
        Vec::new()
    }

    /// Adds the messages for an event of the turn, if the protocol has any for it.
    fn on_chat_event(&mut self, event: &ChatEvent, out: &mut Vec<Value>);

    /// Adds the messages for an event of the endpoint, if the protocol has any for it.
    fn on_endpoint_event(&mut self, event: &EndpointEvent, out: &mut Vec<Value>);

    /// The messages for an event.
    fn on_event(&mut self, event: &ConversationEvent) -> Vec<Value> {
        let mut out = Vec::new();
        match event {
            ConversationEvent::Chat(event) => self.on_chat_event(event, &mut out),
            ConversationEvent::Endpoint(event) => self.on_endpoint_event(event, &mut out),
        }
        out
    }

    /// The data of the last server-sent event, verbatim.
    fn terminator(&self) -> Option<&'static str> {
        None
    }
}

/// The kind of text that is being streamed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum TextKind {
    Text,
    Reasoning,
}

/// The state of the current step of the model.
#[derive(PartialEq)]
pub(crate) enum StepState {
    None,
    Open,
    /// The model has finished; its calls may still run.
    ModelDone,
}

/// The text of a text item.
pub(crate) fn content_text(item: &Content) -> Option<&str> {
    match item {
        Content::Text { text } => Some(text),
        _ => None,
    }
}
