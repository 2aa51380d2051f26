//! Commands of a room: messages, decisions and resumes; and the message that a client sends.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;
use toolwright_chat::{ApprovalResponse, ChatError, Model};
use toolwright_core::{CancellationToken, Content, Role};

use crate::auth::request_context::RequestContext;
use crate::conversation::event::PeerId;

/// A command in the queue of a room.
pub(crate) struct RoomCommand {
    pub(crate) kind: CommandKind,
    pub(crate) request_context: RequestContext,
    pub(crate) peer: Option<PeerId>,
    pub(crate) cancel: CancellationToken,
    /// Receives the sequence number before the turn's first event, once it has started.
    pub(crate) started: StartedSender,
    /// Dropped when a recovered turn has paused, ended or made progress.
    pub(crate) recovery_guard: Option<DropGuard>,
}

/// Sends the sequence number from which to read, or why the turn did not start.
pub(crate) type StartedSender = Option<oneshot::Sender<Result<u64, ChatError>>>;

pub(crate) enum CommandKind {
    /// A new message.
    Message(IncomingMessage),
    /// Decisions about pending approvals.
    Decisions(Vec<ApprovalResponse>),
    /// Resume an interrupted turn.
    Resume,
}

/// A message that a client sends to an endpoint.
#[derive(Clone)]
#[non_exhaustive]
pub struct IncomingMessage {
    /// The parts in order; mostly one, of the user.
    pub parts: Vec<MessagePart>,
    /// The model that the message chooses; default: the endpoint's.
    pub model: Option<Arc<dyn Model>>,
}

/// A part of a message, serialized like [`EndpointEvent::Message`](crate::EndpointEvent::Message).
#[derive(Clone, Debug, Serialize)]
pub struct MessagePart {
    /// The role of the content.
    pub role: Role,
    /// The content.
    pub content: Vec<Content>,
}

impl IncomingMessage {
    /// A user message.
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_role(Role::User, vec![Content::text(text)])
    }

    /// A message with content of one role.
    pub fn with_role(role: Role, content: Vec<Content>) -> Self {
        Self { parts: vec![MessagePart { role, content }], model: None }
    }

    /// A message without parts, for handlers that are not called with one.
    pub(crate) fn empty() -> Self {
        Self { parts: Vec::new(), model: None }
    }

    /// The text of all parts, joined by newlines.
    pub fn text(&self) -> String {
        let content = self.parts.iter().flat_map(|part| &part.content);
        let texts: Vec<&str> = content.filter_map(crate::protocols::content_text).collect();
        texts.join("\n")
    }

    /// Replaces the message by a user message with this text.
    pub fn set_text(&mut self, text: impl Into<String>) {
        self.parts = Self::new(text).parts;
    }
}

impl From<String> for IncomingMessage {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for IncomingMessage {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl RoomCommand {
    pub(crate) fn new(kind: CommandKind, context: RequestContext, peer: Option<PeerId>) -> Self {
        Self {
            kind,
            request_context: context,
            peer,
            cancel: CancellationToken::new(),
            started: None,
            recovery_guard: None,
        }
    }

    /// Resumes a turn.
    pub(crate) fn resume(context: RequestContext) -> Self {
        Self::new(CommandKind::Resume, context, None)
    }

    /// Returns the receiver of [`started`](Self::started).
    pub(crate) fn started_receiver(&mut self) -> oneshot::Receiver<Result<u64, ChatError>> {
        let (sender, receiver) = oneshot::channel();
        self.started = Some(sender);
        receiver
    }
}
