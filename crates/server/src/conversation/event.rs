//! What a page hears of a conversation: all that happens in a turn, and what the endpoint adds.

use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};
use toolwright_chat::ChatEvent;
use toolwright_core::{Content, Role};

/// One thing that happens in a conversation, in the form of its JSON: an object with a `type`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ConversationEvent {
    /// A piece of a turn.
    Chat(ChatEvent),
    /// What the endpoint says besides.
    Endpoint(EndpointEvent),
}

/// What an endpoint tells beside the turn itself.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndpointEvent {
    /// Somebody said something: a turn begins, and whatever waited for a decision waits no more.
    #[serde(rename = "said")]
    Message {
        /// In whose name.
        role: Role,
        /// What.
        content: Vec<Content>,
    },
    /// Something worth knowing about the turn: its cost, who answered, how long it took.
    Metadata {
        /// By name.
        metadata: Map<String, Value>,
    },
    /// How far the endpoint itself is.
    Status {
        /// How much is done.
        done: Option<f64>,
        /// Of how much.
        total: Option<f64>,
        /// What it is doing.
        message: Option<String>,
    },
    /// How many take part has changed.
    Peers {
        /// How many there are now.
        count: usize,
    },
    /// The turn could not go on.
    Error {
        /// What kind of trouble it is.
        kind: String,
        /// What to tell, without secrets.
        message: String,
    },
    /// The server ends; whoever reads comes back later.
    #[serde(rename = "goodbye")]
    Shutdown {
        /// Why.
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

impl ConversationEvent {
    /// Tells whether nothing follows in this turn, until somebody decides or says something.
    pub fn ends_or_pauses_turn(&self) -> bool {
        matches!(
            self,
            Self::Chat(ChatEvent::TurnEnded { .. } | ChatEvent::TurnPaused { .. })
                | Self::Endpoint(EndpointEvent::Error { .. } | EndpointEvent::Shutdown { .. })
        )
    }
}

/// Whom an event is for.
pub type PeerId = Arc<str>;

/// An event with its place in the conversation.
#[derive(Debug)]
#[non_exhaustive]
pub struct SequencedEvent {
    /// Grows by one from event to event; never used again, not even after a restart.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What.
    pub event: ConversationEvent,
    /// For whom; without one, for all who take part.
    pub recipient: Option<PeerId>,
    /// As server-sent events have it; the JSON is a part of it.
    sse_frame: Bytes,
    json: Range<usize>,
}

impl SequencedEvent {
    pub(crate) fn new(seq: u64, event: ConversationEvent, to: Option<PeerId>) -> Self {
        #[derive(Serialize)]
        struct Wire<'a> {
            seq: u64,
            at: u64,
            event: &'a ConversationEvent,
        }
        let at = unix_millis_now();
        let wire = Wire {
            seq,
            at,
            event: &event,
        };
        let mut frame = format!("id: {seq}\ndata: ").into_bytes();
        let begin = frame.len();
        // Nothing in an event cannot be JSON; an empty one would be noticed, a panic would end the turn.
        let _ = serde_json::to_writer(&mut frame, &wire);
        let json = begin..frame.len();
        frame.extend_from_slice(b"\n\n");
        // It is kept as long as its turn is, one of thousands: without the room that growing has left.
        frame.shrink_to_fit();
        Self {
            seq,
            at,
            event,
            recipient: to,
            sse_frame: frame.into(),
            json,
        }
    }

    /// The event as it is sent: `{"seq": …, "at": …, "event": {…}}`. Written once for all who read it.
    pub fn json(&self) -> Bytes {
        self.sse_frame.slice(self.json.clone())
    }

    /// The same as an event of a server-sent stream.
    pub fn sse_frame(&self) -> &Bytes {
        &self.sse_frame
    }

    /// Tells whether somebody may read it.
    pub fn is_visible_to(&self, peer: Option<&PeerId>) -> bool {
        self.recipient.is_none() || self.recipient.as_ref() == peer
    }
}

/// Milliseconds since 1970.
pub(crate) fn unix_millis_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
