//! The inbox of a conversation: what was accepted from clients and is not in the journal yet.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_core::{Content, Role};

use crate::chat::event::ApprovalResponse;
use crate::journal::entry::{Entry, EntryBody};
use crate::journal::store::TurnStatus;
use crate::journal::store::owner::PrincipalRecord;

/// The id of a stop begins with it if it names a turn: a stop of the same turn that is added again has the same id.
const STOP_PREFIX: &str = "stop:";

/// An item of a conversation's inbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InboxItem {
    /// Unique in the conversation: an item whose id is in the inbox already is not added again.
    pub id: String,
    /// Its position, which the store assigns.
    #[serde(skip)]
    pub position: u64,
    /// True if it may be taken while the turn is paused: a decision, a stop, or a message that was sent during the pause.
    #[serde(skip)]
    pub resumes: bool,
    /// When it was accepted, in milliseconds since 1970.
    pub at: u64,
    /// What the client sent.
    pub body: InboxBody,
    /// The principal that sent it; `None` for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<PrincipalRecord>,
    /// The client's connection, if it has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
}

/// What a client sent, by kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxBody {
    /// A message, whose turn begins when the turns before it are over.
    Message {
        /// The parts of the message, in order.
        parts: Vec<MessagePart>,
        /// The name of the model that the message chooses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The id of the entry after which the message continues the conversation; the newest, if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// The definitions of the tools that the client runs itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        client_tools: Vec<Value>,
    },
    /// Decisions about pending approvals.
    Decisions {
        /// The decisions; all are accepted, or none.
        responses: Vec<ApprovalResponse>,
    },
    /// The turn that the [id names](InboxItem::stop) is to end, if it runs or is paused; without a name, the one that does.
    Stop,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagePart {
    /// The role of the content.
    pub role: Role,
    /// The content.
    pub content: Vec<Content>,
}

impl InboxItem {
    /// Creates an item of the operator, without a position.
    pub fn new(id: impl Into<String>, at: u64, body: InboxBody) -> Self {
        let (position, resumes) = (0, false);
        Self { id: id.into(), position, resumes, at, body, principal: None, peer: None }
    }

    /// Creates a stop of a turn, which the id of one of its messages names.
    ///
    /// Its own id follows from that: a stop that is added again, because its acknowledgement was lost, cannot end the next turn.
    pub fn stop(turn: &str, at: u64) -> Self {
        Self::new(format!("{STOP_PREFIX}{turn}"), at, InboxBody::Stop)
    }

    /// Returns true if it is a stop of the turn that has one of these messages, or one that names no turn.
    pub fn is_stop_of<'a>(&self, mut messages: impl Iterator<Item = &'a str>) -> bool {
        let named = self.id.strip_prefix(STOP_PREFIX);
        let is_meant = named.is_none_or(|named| messages.any(|message| message == named));
        self.body == InboxBody::Stop && is_meant
    }

    /// Sets the principal that sent it.
    #[must_use]
    pub fn with_principal(mut self, principal: Option<PrincipalRecord>) -> Self {
        self.principal = principal;
        self
    }

    /// Sets the client's connection.
    #[must_use]
    pub fn with_peer(mut self, peer: Option<String>) -> Self {
        self.peer = peer;
        self
    }

    /// The definitions of the tools that the client of a message runs itself.
    pub fn client_tools(&self) -> &[Value] {
        match &self.body {
            InboxBody::Message { client_tools, .. } => client_tools,
            InboxBody::Decisions { .. } | InboxBody::Stop => &[],
        }
    }

    /// Sets what the store knows about it: its position, and the status of the turn when it was added.
    #[must_use]
    pub fn stored_at(mut self, position: u64, turn: TurnStatus) -> Self {
        self.position = position;
        self.resumes = self.resumes_turn(turn);
        self
    }

    /// Returns true if it may be taken while the turn is paused, when it is added in this status of the turn.
    pub fn resumes_turn(&self, turn: TurnStatus) -> bool {
        turn == TurnStatus::Paused || !matches!(self.body, InboxBody::Message { .. })
    }

    /// Returns the item that is to be taken next: stops and decisions before messages, each in order.
    ///
    /// While the turn is paused, a message waits unless one was sent during the pause.
    pub fn next_of(inbox: Vec<Self>, turn: TurnStatus) -> Option<Self> {
        let is_message = |item: &Self| matches!(item.body, InboxBody::Message { .. });
        let takes_messages =
            turn != TurnStatus::Paused || inbox.iter().any(|item| item.resumes && is_message(item));
        let first = inbox.iter().position(|item| !is_message(item));
        let first = first.or_else(|| (takes_messages && !inbox.is_empty()).then_some(0))?;
        inbox.into_iter().nth(first)
    }
}

/// Returns the ids of the messages of an unfinished turn, from its entries and perhaps some of the turn before.
pub fn open_turn_messages(entries: &[Entry]) -> impl DoubleEndedIterator<Item = &str> {
    let ended = |entry: &Entry| matches!(entry.body, EntryBody::TurnEnded { .. });
    let from = entries.iter().rposition(ended).map_or(0, |at| at + 1);
    let messages = entries.iter().skip(from).filter(|entry| entry.is_message());
    messages.map(|entry| entry.id.as_str())
}
