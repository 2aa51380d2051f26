//! Events of a conversation: those of the chat turn, and those of the endpoint.

use std::io::{self, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use toolwright_chat::ChatEvent;
pub(crate) use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{Content, Role};

use crate::conversation::event_log::WireEvent;
use crate::protocols::TextKind;
use crate::protocols::sse::write_data;

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
    /// The rest of a turn cannot be streamed.
    pub(crate) fn turn_lost() -> Self {
        let message = "the rest of the turn is gone: read the conversation".to_owned();
        Self::Error { kind: "gone".to_owned(), message }
    }

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
}

impl SequencedEvent {
    /// The JSON that is sent: `{"seq": …, "at": …, "event": {…}}`.
    pub fn json(&self) -> Bytes {
        to_json(&WireEventRef { seq: self.seq, at: self.at, event: &self.event }).into()
    }

    /// Returns true if this peer receives the event.
    pub fn is_visible_to(&self, peer: Option<&PeerId>) -> bool {
        self.recipient.is_none() || self.recipient.as_ref() == peer
    }
}

/// An event in the log. A turn has thousands of them, most of them a few letters of text: so it is small, and encoded when a
/// client reads it.
#[derive(Debug)]
pub(crate) struct LoggedEvent {
    /// As in [`SequencedEvent`].
    pub(crate) seq: Option<u64>,
    pub(crate) at: u64,
    pub(crate) recipient: Option<PeerId>,
    pub(crate) body: EventBody,
}

/// An event without its number.
#[derive(Clone, Debug)]
pub(crate) enum EventBody {
    /// A piece of the answer or of the reasoning.
    Text(TextKind, Box<str>),
    /// Any other event, and the size of its JSON in bytes.
    Other(Box<ConversationEvent>, usize),
}

/// The JSON of an event.
#[derive(Serialize)]
struct WireEventRef<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    at: u64,
    event: &'a T,
}

impl LoggedEvent {
    /// Returns true if this peer receives the event.
    pub(crate) fn is_visible_to(&self, peer: Option<&PeerId>) -> bool {
        self.recipient.is_none() || self.recipient.as_ref() == peer
    }

    /// The number of bytes that it counts in a log: about those of its JSON.
    pub(crate) fn size(&self) -> usize {
        match &self.body {
            EventBody::Text(_, delta) => TEXT_EVENT_BYTES + delta.len(),
            EventBody::Other(_, json_size) => *json_size,
        }
    }

    /// The event as it is sent to other nodes.
    pub(crate) fn to_wire(&self) -> WireEvent {
        let (event, to) = (self.body.to_event(), self.recipient.clone());
        WireEvent { seq: self.seq, at: self.at, event, to }
    }

    /// The event as programs read it.
    pub(crate) fn to_sequenced(&self) -> SequencedEvent {
        let (event, recipient) = (self.body.to_event(), self.recipient.clone());
        SequencedEvent { seq: self.seq, at: self.at, event, recipient }
    }

    /// The JSON that is sent, as [`SequencedEvent::json`].
    pub(crate) fn json(&self) -> Vec<u8> {
        to_json(&WireEventRef { seq: self.seq, at: self.at, event: &self.body })
    }

    /// Appends the event as a server-sent event, which contains its JSON.
    pub(crate) fn write_sse_frame(&self, out: &mut Vec<u8>) {
        if let Some(seq) = self.seq {
            // Writing to memory does not fail.
            let _ = writeln!(out, "id: {seq}");
        }
        write_data(out, &WireEventRef { seq: self.seq, at: self.at, event: &self.body });
    }
}

impl EventBody {
    fn to_event(&self) -> ConversationEvent {
        match self {
            Self::Other(event, _) => ConversationEvent::clone(event),
            Self::Text(kind, delta) => {
                let delta = String::from(&**delta);
                ConversationEvent::Chat(match kind {
                    TextKind::Text => ChatEvent::Text { delta },
                    TextKind::Reasoning => ChatEvent::Reasoning { delta },
                })
            }
        }
    }

    /// As [`ConversationEvent::ends_or_pauses_turn`].
    pub(crate) fn ends_or_pauses_turn(&self) -> bool {
        matches!(self, Self::Other(event, _) if event.ends_or_pauses_turn())
    }
}

impl From<ConversationEvent> for EventBody {
    fn from(event: ConversationEvent) -> Self {
        match event {
            ConversationEvent::Chat(ChatEvent::Text { delta }) => {
                Self::Text(TextKind::Text, delta.into())
            }
            ConversationEvent::Chat(ChatEvent::Reasoning { delta }) => {
                Self::Text(TextKind::Reasoning, delta.into())
            }
            event => {
                let size = json_size(&event);
                Self::Other(Box::new(event), size)
            }
        }
    }
}

impl Serialize for EventBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            delta: &'a str,
        }
        match self {
            Self::Text(kind, delta) => Text { r#type: kind.name(), delta }.serialize(serializer),
            Self::Other(event, _) => event.serialize(serializer),
        }
    }
}

/// The size of the JSON of an event of text, without the text.
const TEXT_EVENT_BYTES: usize = 96;

fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// The number of bytes of a value as JSON.
fn json_size(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_in_the_log_has_the_json_of_the_event() {
        let (text, thought) = ("\"a\"\n".to_owned(), "é".to_owned());
        for event in [
            ChatEvent::Text { delta: text }.into(),
            ChatEvent::Reasoning { delta: thought }.into(),
            ConversationEvent::from(EndpointEvent::shutdown()),
        ] {
            let json = serde_json::to_string(&event).unwrap();
            let body = EventBody::from(event);
            assert_eq!(serde_json::to_string(&body).unwrap(), json);
            assert_eq!(serde_json::to_string(&body.to_event()).unwrap(), json);
            let logged = LoggedEvent { seq: Some(7), at: 9, recipient: None, body };
            let mut frame = Vec::new();
            logged.write_sse_frame(&mut frame);
            let data = format!("{{\"seq\":7,\"at\":9,\"event\":{json}}}");
            assert_eq!(String::from_utf8(frame).unwrap(), format!("id: 7\ndata: {data}\n\n"));
            assert_eq!(logged.to_sequenced().json(), data);
        }
    }
}
