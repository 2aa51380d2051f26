//! The messages between nodes, as JSON.
//!
//! A node that is one version older ignores messages that it does not know.

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
