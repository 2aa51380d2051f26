//! The protocols of clients: native, AI SDK, AG-UI, OpenAI, and calls in the same process.
//!
//! A streaming protocol is an [`EventEncoder`], which does no I/O, and a route that streams it with [`turn_stream`] and [`sse`].

use serde::Serialize;
use toolwright_chat::ChatEvent;
use toolwright_conversation::logged_event::{EventBody, TextKind};
use toolwright_conversation::{ConversationEvent, EndpointEvent};
use toolwright_core::Content;

use crate::conversation::room::ConversationSnapshot;

pub(crate) mod ag_ui;
pub(crate) mod ai_sdk;
pub(crate) mod in_process;
pub(crate) mod native;
pub(crate) mod openai;
mod question;
pub(crate) mod sse;
pub(crate) mod turn_stream;
pub(crate) mod websocket;

/// Encodes the events of a turn as the JSON messages of a protocol.
pub(crate) trait EventEncoder: Send + 'static {
    /// Adds the messages at the start of the stream.
    fn start(&mut self, _: &mut Messages) {}

    /// Adds the messages for a piece of text or reasoning.
    fn on_text(&mut self, kind: TextKind, delta: &str, out: &mut Messages);

    /// Adds the messages for another event of the turn, if the protocol has any for it.
    fn on_chat_event(&mut self, event: &ChatEvent, out: &mut Messages);

    /// Adds the messages for an event of the endpoint, if the protocol has any for it.
    fn on_endpoint_event(&mut self, event: &EndpointEvent, out: &mut Messages);

    /// Adds the messages for an event.
    fn on_event(&mut self, event: &EventBody, out: &mut Messages) {
        match event {
            EventBody::Text(kind, delta) => self.on_text(*kind, delta, out),
            EventBody::Other(event, _) => match &**event {
                ConversationEvent::Chat(event) => self.on_chat_event(event, out),
                ConversationEvent::Endpoint(event) => self.on_endpoint_event(event, out),
            },
        }
    }

    /// Adds the messages for a snapshot of the conversation, in place of events that are missing here; returns true if they are
    /// the last ones. A protocol that cannot continue a turn from a snapshot ends with an error.
    fn on_snapshot(&mut self, _: &ConversationSnapshot, out: &mut Messages) -> bool {
        self.on_endpoint_event(&EndpointEvent::turn_lost(), out);
        true
    }

    /// The data of the last server-sent event, verbatim.
    fn terminator(&self) -> Option<&'static str> {
        None
    }
}

/// The JSON messages of a protocol, each encoded as a server-sent event, in one buffer that serves all events of a stream.
#[derive(Default)]
pub(crate) struct Messages {
    frames: Vec<u8>,
    /// Where each message's frame ends.
    ends: Vec<usize>,
}

/// A larger buffer, after a large message, is not kept.
const MAX_KEPT_BYTES: usize = 1 << 10;

impl Messages {
    pub(crate) fn push(&mut self, message: impl Serialize) {
        sse::write_data(&mut self.frames, &message);
        self.ends.push(self.frames.len());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Moves all messages to `out`, as server-sent events.
    pub(crate) fn move_frames(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.frames);
        self.frames.shrink_to(MAX_KEPT_BYTES);
        self.ends.clear();
    }

    /// Takes the JSON of all messages.
    pub(crate) fn take_json(&mut self) -> Vec<String> {
        let mut begin = 0;
        let json = self.ends.drain(..).map(|end| {
            let frame = self.frames.get(begin..end).unwrap_or_default();
            begin = end;
            let json = frame.strip_prefix(sse::DATA_START).unwrap_or_default();
            let json = json.strip_suffix(sse::DATA_END).unwrap_or_default();
            // JSON is valid UTF-8.
            String::from_utf8(json.to_vec()).unwrap_or_default()
        });
        let json = json.collect();
        self.frames.clear();
        self.frames.shrink_to(MAX_KEPT_BYTES);
        json
    }
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
