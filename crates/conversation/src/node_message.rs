//! Messages between the nodes that have the same conversation in memory.

use serde::{Deserialize, Serialize};

use crate::error::{ConversationError, ConversationErrorKind};
use crate::event_log::{LogState, TurnMarker};
use crate::logged_event::WireEvent;
use crate::participant::Participant;

/// A message to the other nodes that have the conversation in memory.
///
/// Any of them may be lost: numbers reveal a missing event, and the inbox and the journal are in the store. A change of a
/// message raises [`NODE_PROTOCOL`](toolwright_bus::NODE_PROTOCOL).
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NodeMessage {
    /// An event; numbered if this node holds the lease.
    Event(Box<WireEvent>),
    /// This node has acquired the lease.
    TermBegan {
        term: u64,
        /// The newest sequence number before it, if this node has all events before it.
        before: Option<u64>,
    },
    /// This node has released the lease.
    TermEnded {
        term: u64,
        /// The number of its last event.
        newest_seq: u64,
        /// True if a turn was interrupted in a step, whose events are repeated.
        is_interrupted: bool,
    },
    /// A turn begins at the node that holds the lease.
    TurnBegan { turn: TurnMarker },
    /// The turn of an inbox item has begun, after this sequence number: for the node that accepted the item.
    Started { item: String, seq: u64 },
    /// An inbox item was rejected: for the node that accepted it.
    Rejected { item: String, error: ConversationErrorKind, message: String },
    /// An item was added to the inbox.
    InboxChanged,
    /// Requests a [`State`](Self::State) of the node that holds the lease.
    StateRequest { request: String, holder: String },
    /// The state of the holder's event log; `None` if it does not hold the lease any more.
    State { request: String, state: Option<Box<LogState>> },
    /// The number of clients that are connected to this node, and the people at them.
    Peers { node: String, count: usize, participants: Vec<Participant> },
    /// Requests the [`Peers`](Self::Peers) of the other nodes.
    PeersRequest,
    /// The conversation was deleted.
    Deleted,
    /// The access of a principal may have ended.
    AccessChanged,
}

impl NodeMessage {
    /// An inbox item was rejected with an error.
    pub fn rejected(item: String, error: &ConversationError) -> Self {
        Self::Rejected { item, error: error.kind(), message: error.message() }
    }

    pub fn to_json(&self) -> String {
        // Events always serialize; an empty message is ignored by its receivers.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a message; `None` for what is none. The bus refuses those of nodes with another protocol.
    pub fn from_json(text: &str) -> Option<Self> {
        let message = serde_json::from_str(text);
        message.inspect_err(|error| tracing::warn!(%error, "another node sent no message")).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_chat::{ChatEvent, TurnEnd, Usage};
    use toolwright_core::{CallId, Content, Role, ToolCall, ToolResult};

    use super::*;
    use crate::event::{ConversationEvent, EndpointEvent};

    fn round_trip(event: impl Into<ConversationEvent>) {
        let wire = WireEvent { seq: Some(7), at: 3, event: event.into(), to: Some("peer".into()) };
        let text = NodeMessage::Event(Box::new(wire)).to_json();
        let read = NodeMessage::from_json(&text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(read.to_json(), text);
    }

    #[test]
    fn events_arrive_at_another_node_as_they_were_sent() {
        let call = ToolCall::new("add", json!({"a": 1, "b": [2.5, "ü\u{0}"]}));
        let result = ToolResult::success("5").for_call("c1", "add");
        round_trip(ChatEvent::Text { delta: "a\nb\u{0}".to_owned() });
        round_trip(ChatEvent::Call { call: call.clone() });
        round_trip(ChatEvent::ChildCall { parent: CallId::from("p"), call });
        round_trip(ChatEvent::Result { result, millis: 12 });
        round_trip(ChatEvent::TurnEnded {
            end: TurnEnd::Failed { reason: "it broke".to_owned() },
            content: vec![Content::text("so far")],
            usage: Usage::default(),
            cost: Some(0.25),
        });
        round_trip(EndpointEvent::Message {
            role: Role::User,
            content: vec![Content::text("hello")],
            after: None,
        });
        round_trip(EndpointEvent::Withdrawn { position: 4 });
        round_trip(EndpointEvent::Error { kind: "store".to_owned(), message: "away".to_owned() });
    }

    /// Who changes one of these texts raises the number.
    #[test]
    fn messages_have_the_form_of_their_protocol() {
        assert_eq!(toolwright_bus::NODE_PROTOCOL, 1);
        for text in [
            r#"{"kind":"event","seq":7,"at":3,"event":{"type":"withdrawn","position":4},"to":"peer"}"#,
            r#"{"kind":"term_began","term":2,"before":7}"#,
            r#"{"kind":"term_ended","term":2,"newest_seq":7,"is_interrupted":false}"#,
            r#"{"kind":"turn_began","turn":{"running":true,"seq_before":7,"answer_id":3,"entry_before":"e"}}"#,
            r#"{"kind":"started","item":"i","seq":7}"#,
            r#"{"kind":"rejected","item":"i","error":"conflict","message":"m"}"#,
            r#"{"kind":"rejected","item":"i","error":{"model":"rate_limit"},"message":"m"}"#,
            r#"{"kind":"inbox_changed"}"#,
            r#"{"kind":"state_request","request":"r","holder":"n"}"#,
            r#"{"kind":"state","request":"r","state":{"term":2,"newest_seq":7,"turn":{"running":false,"seq_before":0,"answer_id":0,"entry_before":null},"pending":[],"partial":{"text":"","reasoning":""},"events":[]}}"#,
            r#"{"kind":"peers","node":"n","count":1,"participants":[{"name":"Ada","subject":"ada"}]}"#,
            r#"{"kind":"peers_request"}"#,
            r#"{"kind":"deleted"}"#,
            r#"{"kind":"access_changed"}"#,
        ] {
            let read = NodeMessage::from_json(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(read.to_json(), text);
        }
    }

    #[test]
    fn what_is_no_message_is_ignored() {
        assert!(NodeMessage::from_json(r#"{"kind":"vote","for":"n1"}"#).is_none());
        assert!(NodeMessage::from_json("").is_none());
    }
}
