//! The messages between nodes, as JSON. A change of a message raises [`NODE_PROTOCOL`](toolwright_bus::NODE_PROTOCOL).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message to all nodes; there is no reply.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Announcement {
    /// A client has ended its session.
    SessionEnded { session: String },
    /// The stored record of a session has changed; a large one is left out.
    SessionChanged { session: String, record: Option<String> },
    /// A session has opened its stream of notifications at another node; there is one at a time.
    NotificationStreamOpened { session: String },
    /// A client has cancelled a request of its session; `request` is the id as raw JSON.
    RequestCancelled { session: String, request: String },
    /// A resource has changed.
    ResourceUpdated { uri: String },
    /// The tools or prompts of a node have changed.
    ListsChanged(ListChanges),
}

/// The lists that have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListChanges {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
}

/// A message to one node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodeMessage {
    /// `from` receives the reply with the same `call`.
    Request {
        from: String,
        call: u64,
        request: NodeRequest,
    },
    Reply {
        call: u64,
        reply: NodeReply,
    },
}

/// A request of another node, which has checked that its client may send it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodeRequest {
    /// Asks whether the node runs.
    Ping,
    /// The client of a session has answered a request of this node; an error of the client is its message.
    DeliverAnswer { session: String, request: u64, answer: Result<Value, String> },
    /// Reads events of a response stream.
    ReadEvents(EventQuery),
    /// Adds answers to a task.
    UpdateTask { task: String, answers: Map<String, Value> },
    /// Cancels a task.
    CancelTask { task: String },
}

/// The events of a response stream from an index on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventQuery {
    pub(crate) session: String,
    pub(crate) stream: u64,
    pub(crate) index: usize,
    /// The scopes of the reader; `None` where all tools are granted.
    pub(crate) scopes: Option<BTreeSet<String>>,
    /// The time to wait for an event if there is none yet, in milliseconds.
    pub(crate) wait_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodeReply {
    Done,
    /// The node has no such session, request, stream or task.
    NotFound,
    Events(EventPage),
    /// The request or the reply is larger than a message on the bus may be.
    TooLarge,
}

/// Consecutive events of a response stream.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventPage {
    /// The index of the first event.
    pub(crate) first: usize,
    pub(crate) events: Vec<String>,
    /// Whether the stream ends after these events.
    pub(crate) ended: bool,
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    fn round_trip<T: Serialize + DeserializeOwned>(text: &str) {
        let read: T = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    /// Who changes one of these texts raises the number.
    #[test]
    fn messages_have_the_form_of_their_protocol() {
        assert_eq!(toolwright_bus::NODE_PROTOCOL, 1);
        for text in [
            r#"{"session_ended":{"session":"s"}}"#,
            r#"{"session_changed":{"session":"s","record":null}}"#,
            r#"{"notification_stream_opened":{"session":"s"}}"#,
            r#"{"request_cancelled":{"session":"s","request":"7"}}"#,
            r#"{"resource_updated":{"uri":"u"}}"#,
            r#"{"lists_changed":{"tools":true,"prompts":false}}"#,
        ] {
            round_trip::<Announcement>(text);
        }
        for text in [
            r#"{"request":{"from":"n","call":1,"request":"ping"}}"#,
            r#"{"request":{"from":"n","call":1,"request":{"deliver_answer":{"session":"s","request":2,"answer":{"Ok":{}}}}}}"#,
            r#"{"request":{"from":"n","call":1,"request":{"read_events":{"session":"s","stream":2,"index":3,"scopes":["a"],"wait_ms":4}}}}"#,
            r#"{"request":{"from":"n","call":1,"request":{"update_task":{"task":"t","answers":{}}}}}"#,
            r#"{"request":{"from":"n","call":1,"request":{"cancel_task":{"task":"t"}}}}"#,
            r#"{"reply":{"call":1,"reply":"done"}}"#,
            r#"{"reply":{"call":1,"reply":"not_found"}}"#,
            r#"{"reply":{"call":1,"reply":{"events":{"first":0,"events":["e"],"ended":true}}}}"#,
            r#"{"reply":{"call":1,"reply":"too_large"}}"#,
        ] {
            round_trip::<NodeMessage>(text);
        }
    }
}
