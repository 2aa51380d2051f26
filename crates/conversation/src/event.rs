//! Events of a conversation: those of the chat turn, and those of the endpoint.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolwright_chat::ChatEvent;
use toolwright_core::{Content, Role};

/// An event of a conversation; serializes as an object with a `type`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConversationEvent {
    /// An event of the turn.
    Chat(ChatEvent),
    /// An event of the endpoint.
    Endpoint(EndpointEvent),
}

/// Events that the endpoint adds to those of the turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EndpointEvent {
    /// A message was received: its turn begins, and pending approvals are void.
    #[serde(rename = "said")]
    Message {
        /// The author of the message.
        role: Role,
        /// The content of the message.
        content: Vec<Content>,
        /// The id of the entry after which the turn continues, if the message names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// A queued message was withdrawn.
    Withdrawn {
        /// The position that it had in the queue.
        position: u64,
    },
    /// Information about the turn: cost, model, latency.
    Metadata {
        /// The values, by name.
        metadata: Map<String, Value>,
    },
    /// Progress of the endpoint's handler.
    Status {
        /// The amount done.
        done: Option<f64>,
        /// The total amount.
        total: Option<f64>,
        /// The current activity.
        message: Option<String>,
    },
    /// The number of connected clients or the people at them have changed.
    Peers {
        /// The number of clients now.
        count: usize,
        /// The names of the people who are connected.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        participants: Vec<String>,
    },
    /// The turn failed.
    Error {
        /// The kind of error, for programs.
        kind: String,
        /// The message, with secrets redacted.
        message: String,
    },
    /// The server shuts down; clients should reconnect later.
    #[serde(rename = "goodbye")]
    Shutdown {
        /// The reason.
        reason: String,
    },
}

impl From<ChatEvent> for ConversationEvent {
    fn from(event: ChatEvent) -> Self {
        Self::Chat(event)
    }
}

impl From<EndpointEvent> for ConversationEvent {
    fn from(event: EndpointEvent) -> Self {
        Self::Endpoint(event)
    }
}

impl EndpointEvent {
    /// The rest of a turn cannot be streamed.
    #[doc(hidden)]
    pub fn turn_lost() -> Self {
        let message = "the rest of the turn is gone: read the conversation".to_owned();
        Self::Error { kind: "gone".to_owned(), message }
    }

    #[doc(hidden)]
    pub fn shutdown() -> Self {
        let reason = "the server ends".to_owned();
        Self::Shutdown { reason }
    }
}

impl ConversationEvent {
    /// Returns true if no event of this turn follows, until a message or a decision is sent.
    pub fn ends_or_pauses_turn(&self) -> bool {
        matches!(
            self,
            Self::Chat(ChatEvent::TurnEnded { .. } | ChatEvent::TurnPaused { .. })
                | Self::Endpoint(EndpointEvent::Error { .. } | EndpointEvent::Shutdown { .. })
        )
    }
}

/// The id of a connected client.
pub type PeerId = Arc<str>;

/// An event with its sequence number.
#[derive(Debug)]
#[non_exhaustive]
pub struct SequencedEvent {
    /// Rises from event to event; never reused, not even after a restart or by another process. `None` for the number of
    /// clients, withdrawn messages, and what is sent outside of a turn: a client that reconnects does not receive these again.
    pub seq: Option<u64>,
    /// Milliseconds since 1970.
    pub at: u64,
    /// The event.
    pub event: ConversationEvent,
    /// The peer that receives it; `None`: all.
    pub recipient: Option<PeerId>,
}

impl SequencedEvent {
    /// The JSON that is sent: `{"seq": …, "at": …, "event": {…}}`.
    pub fn json(&self) -> Bytes {
        NumberedEvent { seq: self.seq, at: self.at, event: &self.event }.to_json().into()
    }

    /// Returns true if this peer receives the event.
    pub fn is_visible_to(&self, peer: Option<&PeerId>) -> bool {
        self.recipient.is_none() || self.recipient.as_ref() == peer
    }
}

/// An event with its number, as it is sent.
#[derive(Serialize)]
pub(crate) struct NumberedEvent<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<u64>,
    pub(crate) at: u64,
    pub(crate) event: &'a T,
}

impl<T: Serialize> NumberedEvent<'_, T> {
    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
