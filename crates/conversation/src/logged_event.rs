//! An event in the log of a conversation, and as other nodes receive it.

use std::io;

use serde::{Deserialize, Serialize, Serializer};
use toolwright_chat::ChatEvent;

use crate::event::{ConversationEvent, NumberedEvent, PeerId, SequencedEvent};

/// An event in the log. A turn has thousands of them, most of them a few letters of text: so it is small, and encoded when a
/// client reads it.
#[derive(Debug)]
pub struct LoggedEvent {
    /// As in [`SequencedEvent`].
    pub seq: Option<u64>,
    pub at: u64,
    pub recipient: Option<PeerId>,
    pub body: EventBody,
}

/// An event without its number.
#[derive(Clone, Debug)]
pub enum EventBody {
    /// A piece of the answer or of the reasoning.
    Text(TextKind, Box<str>),
    /// Any other event, and the size of its JSON in bytes.
    Other(Box<ConversationEvent>, usize),
}

/// What a piece of text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Text,
    Reasoning,
}

impl TextKind {
    /// The `type` of its event.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
        }
    }
}

/// An event as it is sent to other nodes.
#[derive(Debug, Serialize, Deserialize)]
pub struct WireEvent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    pub at: u64,
    pub event: ConversationEvent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<PeerId>,
}

impl From<WireEvent> for LoggedEvent {
    fn from(wire: WireEvent) -> Self {
        let body = EventBody::from(wire.event);
        Self { seq: wire.seq, at: wire.at, recipient: wire.to, body }
    }
}

impl LoggedEvent {
    /// Returns true if this peer receives the event.
    pub fn is_visible_to(&self, peer: Option<&PeerId>) -> bool {
        self.recipient.is_none() || self.recipient.as_ref() == peer
    }

    /// The number of bytes that it counts in a log: about those of its JSON.
    pub fn size(&self) -> usize {
        match &self.body {
            EventBody::Text(_, delta) => TEXT_EVENT_BYTES + delta.len(),
            EventBody::Other(_, json_size) => *json_size,
        }
    }

    /// The event as it is sent to other nodes.
    pub fn to_wire(&self) -> WireEvent {
        let (event, to) = (self.body.to_event(), self.recipient.clone());
        WireEvent { seq: self.seq, at: self.at, event, to }
    }

    /// The event as programs read it.
    pub fn to_sequenced(&self) -> SequencedEvent {
        let (event, recipient) = (self.body.to_event(), self.recipient.clone());
        SequencedEvent { seq: self.seq, at: self.at, event, recipient }
    }

    /// The JSON that is sent, as [`SequencedEvent::json`].
    pub fn json(&self) -> Vec<u8> {
        self.numbered().to_json()
    }

    fn numbered(&self) -> NumberedEvent<'_, EventBody> {
        NumberedEvent { seq: self.seq, at: self.at, event: &self.body }
    }
}

impl Serialize for LoggedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.numbered().serialize(serializer)
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
    pub fn ends_or_pauses_turn(&self) -> bool {
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
    use crate::event::EndpointEvent;

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
            let data = format!("{{\"seq\":7,\"at\":9,\"event\":{json}}}");
            assert_eq!(String::from_utf8(logged.json()).unwrap(), data);
            assert_eq!(logged.to_sequenced().json(), data);
        }
    }
}
