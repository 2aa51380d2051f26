//! Events of a conversation: those of the chat turn, and those of the endpoint.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolwright_chat::ChatEvent;
pub(crate) use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{Content, Role};

use crate::conversation::event_log::WireEvent;

/// An event of a conversation; serializes as an object with a `type`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ConversationEvent {
    /// An event of the turn.
    Chat(ChatEvent),
    /// An event of the endpoint.
    Endpoint(EndpointEvent),
}

/// Events that the endpoint adds to those of the turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
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
    pub(crate) fn shutdown() -> Self {
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
    /// The event as a server-sent event, which contains its JSON.
    sse_frame: Bytes,
    json: Range<usize>,
}

impl SequencedEvent {
    pub(crate) fn new(seq: Option<u64>, event: ConversationEvent, to: Option<PeerId>) -> Self {
        Self::at_time(unix_millis_now(), seq, event, to)
    }

    /// An event of another node, at the time that it has there.
    pub(crate) fn at_time(
        at: u64,
        seq: Option<u64>,
        event: ConversationEvent,
        to: Option<PeerId>,
    ) -> Self {
        #[derive(Serialize)]
        struct Wire<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            seq: Option<u64>,
            at: u64,
            event: &'a ConversationEvent,
        }
        let wire = Wire { seq, at, event: &event };
        let mut frame = match seq {
            Some(seq) => format!("id: {seq}\ndata: ").into_bytes(),
            None => b"data: ".to_vec(),
        };
        let begin = frame.len();
        // Events always serialize; if not, an empty frame is better than a panic that ends the turn.
        let _ = serde_json::to_writer(&mut frame, &wire);
        let json = begin..frame.len();
        frame.extend_from_slice(b"\n\n");
        // Thousands of frames are kept until their turn ends.
        frame.shrink_to_fit();
        Self { seq, at, event, recipient: to, sse_frame: frame.into(), json }
    }

    /// The event as it is sent to other nodes.
    pub(crate) fn to_wire(&self) -> WireEvent {
        let (event, to) = (self.event.clone(), self.recipient.clone());
        WireEvent { seq: self.seq, at: self.at, event, to }
    }

    /// The JSON that is sent: `{"seq": …, "at": …, "event": {…}}`; serialized once for all subscribers.
    pub fn json(&self) -> Bytes {
        self.sse_frame.slice(self.json.clone())
    }

    /// The same as a server-sent event.
    pub fn sse_frame(&self) -> &Bytes {
        &self.sse_frame
    }

    /// Returns true if this peer receives the event.
    pub fn is_visible_to(&self, peer: Option<&PeerId>) -> bool {
        self.recipient.is_none() || self.recipient.as_ref() == peer
    }
}
