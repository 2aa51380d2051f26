//! What a room is asked to do.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;
use toolwright_chat::{ApprovalResponse, ChatError, Model};
use toolwright_core::{CancellationToken, Content, Role};

use crate::auth::request_context::RequestContext;
use crate::conversation::event::PeerId;

/// Something to do in a conversation.
pub(crate) struct RoomCommand {
    pub(crate) kind: CommandKind,
    pub(crate) request_context: RequestContext,
    pub(crate) peer: Option<PeerId>,
    pub(crate) cancel: CancellationToken,
    /// Told once it is known whether it can be done at all: the number before its first event.
    pub(crate) started: StartedSender,
    /// Dropped when the turn waits for a decision, is over, or does something else than ask again.
    pub(crate) recovery_guard: Option<DropGuard>,
}

/// Tells whoever asked from where on to read, or why nothing will come.
pub(crate) type StartedSender = Option<oneshot::Sender<Result<u64, ChatError>>>;

pub(crate) enum CommandKind {
    /// Somebody said something.
    Message(IncomingMessage),
    /// Somebody decided.
    Decisions(Vec<ApprovalResponse>),
    /// A turn goes on that was interrupted.
    Resume,
}

/// What somebody says to an endpoint.
#[derive(Clone)]
#[non_exhaustive]
pub struct IncomingMessage {
    /// What is said, in order: mostly one part, of a person.
    pub parts: Vec<(Role, Vec<Content>)>,
    /// Who should answer, where that was chosen.
    pub model: Option<Arc<dyn Model>>,
}

impl IncomingMessage {
    /// Makes a message of a person's words.
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_role(Role::User, vec![Content::text(text)])
    }

    /// Makes a message of content in somebody's name.
    pub fn with_role(role: Role, content: Vec<Content>) -> Self {
        Self {
            parts: vec![(role, content)],
            model: None,
        }
    }

    /// Nothing.
    pub(crate) fn empty() -> Self {
        Self {
            parts: Vec::new(),
            model: None,
        }
    }

    /// The words of it, parts on lines of their own.
    pub fn text(&self) -> String {
        let content = self.parts.iter().flat_map(|(_, content)| content);
        let texts: Vec<&str> = content.filter_map(crate::protocols::content_text).collect();
        texts.join("\n")
    }

    /// Says something else instead.
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

    /// Goes on with a turn.
    pub(crate) fn resume(context: RequestContext) -> Self {
        Self::new(CommandKind::Resume, context, None)
    }

    /// Lets the one who asks wait until it is known whether it can be done.
    pub(crate) fn started_receiver(&mut self) -> oneshot::Receiver<Result<u64, ChatError>> {
        let (sender, receiver) = oneshot::channel();
        self.started = Some(sender);
        receiver
    }
}
