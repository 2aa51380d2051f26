//! The protocols that pages speak: each is a translator of the same events, without any I/O.
//!
//! A protocol is a file here that implements [`EventEncoder`], and a route that hands it to
//! [`http::turn`](crate::http::turn).

use serde_json::Value;
use toolwright_core::Content;

use crate::conversation::event::ConversationEvent;

pub(crate) mod ag_ui;
pub(crate) mod ai_sdk;
pub(crate) mod in_process;
pub(crate) mod native;
pub(crate) mod openai;
pub(crate) mod sse;
pub(crate) mod turn_stream;

/// One UI protocol: what happens in a turn in, what its clients read out.
pub(crate) trait EventEncoder: Send + 'static {
    /// What is said before anything has happened.
    fn start(&mut self) -> Vec<Value> {
        Vec::new()
    }

    /// What is said of an event; nothing, where the protocol has no word for it.
    fn on_event(&mut self, event: &ConversationEvent) -> Vec<Value>;

    /// What stands after the last part, as it is.
    fn terminator(&self) -> Option<&'static str> {
        None
    }
}

/// What is being written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum TextKind {
    Text,
    Reasoning,
}

/// Where in the steps of a model we are.
#[derive(PartialEq)]
pub(crate) enum StepState {
    None,
    Open,
    /// The model is done with it; its calls may still run.
    ModelDone,
}

/// The text of an item that is one.
pub(crate) fn content_text(item: &Content) -> Option<&str> {
    match item {
        Content::Text { text } => Some(text),
        _ => None,
    }
}
