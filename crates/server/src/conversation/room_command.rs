//! Commands of a room: messages, decisions and resumes; and the message that a client sends.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;
use toolwright_chat::{ApprovalResponse, InboxBody, InboxItem, MessagePart, Model, StoreError};
use toolwright_conversation::{ConversationError, PeerId};
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{CancellationToken, Content, Role};

use crate::auth::request_context::RequestContext;
use crate::endpoint::server_state::ModelCatalog;
use crate::endpoint::{EndpointRuntime, random_id};
use crate::quota::account::QuotaAccount;
use crate::quota::admission::TurnReservation;
use crate::quota::turn_queue::TurnPermit;

/// A command of a room.
pub(crate) struct RoomCommand {
    pub(crate) kind: CommandKind,
    pub(crate) request_context: RequestContext,
    pub(crate) peer: Option<PeerId>,
    pub(crate) cancel: CancellationToken,
    /// Receives the sequence number before the turn's first event, once it has started.
    pub(crate) started: StartedSender,
    /// Dropped when a recovered turn has paused, ended or made progress.
    pub(crate) recovery_guard: Option<DropGuard>,
    /// The person whose quota the turn uses, who has begun it; `None` if that is not limited.
    pub(crate) account: Option<QuotaAccount>,
    /// What the turn holds while it runs, or has reserved for that.
    pub(crate) reservation: Option<TurnReservation>,
}

/// Sends the sequence number from which to read, or why the turn did not start.
pub(crate) type StartedSender = Option<oneshot::Sender<Result<u64, ConversationError>>>;

pub(crate) enum CommandKind {
    /// A new message.
    Message(IncomingMessage),
    /// Decisions about pending approvals.
    Decisions(Vec<ApprovalResponse>),
    /// Resume an interrupted turn, or end it if its token is cancelled.
    Resume,
}

/// What this process knows about a command beyond what the inbox stores.
pub(crate) struct LiveCommand {
    pub(crate) request_context: RequestContext,
    pub(crate) cancel: CancellationToken,
    pub(crate) started: StartedSender,
    pub(crate) accepted: Instant,
    /// True once it is in the inbox, or was.
    pub(crate) is_stored: bool,
    /// The model that the message chooses, which may have no name.
    model: Option<Arc<dyn Model>>,
    reservation: Option<TurnReservation>,
}

impl LiveCommand {
    pub(crate) fn new(request_context: RequestContext) -> Self {
        let (cancel, accepted) = (CancellationToken::new(), Instant::now());
        Self {
            request_context,
            cancel,
            started: None,
            accepted,
            is_stored: false,
            model: None,
            reservation: None,
        }
    }

    /// The permit of the turn that has sent the message, while that turn runs.
    pub(super) fn lent_permit(&self) -> Option<Arc<TurnPermit>> {
        self.reservation.as_ref()?.lent.upgrade()
    }
}

/// A message that a client sends to an endpoint.
#[derive(Clone)]
#[non_exhaustive]
pub struct IncomingMessage {
    /// The parts in order; mostly one, of the user.
    pub parts: Vec<MessagePart>,
    /// The model that the message chooses; default: the endpoint's.
    pub model: Option<Arc<dyn Model>>,
    /// The name of that model, which is stored with the message.
    pub(crate) model_name: Option<String>,
    /// The id of the entry after which the message continues the conversation; default: the newest.
    pub after: Option<String>,
}

impl IncomingMessage {
    /// A user message.
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_role(Role::User, vec![Content::text(text)])
    }

    /// A message with content of one role.
    pub fn with_role(role: Role, content: Vec<Content>) -> Self {
        Self { parts: vec![MessagePart { role, content }], ..Self::empty() }
    }

    /// A message without parts, for handlers that are not called with one.
    pub(crate) fn empty() -> Self {
        Self { parts: Vec::new(), model: None, model_name: None, after: None }
    }

    /// Chooses a model by its name.
    pub(crate) fn choose_model(
        &mut self,
        models: &ModelCatalog,
        name: Option<&str>,
    ) -> Result<(), ConversationError> {
        self.model = name.map(|name| models.find(name)).transpose()?;
        self.model_name = name.map(str::to_owned);
        Ok(())
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

/// The id of the inbox item of decisions: the same if the same principal sends the same ones again, to whichever node.
fn decision_id(subject: Option<&str>, responses: &[ApprovalResponse]) -> String {
    // Its parts always serialize.
    let decided = serde_json::to_vec(&(subject, responses)).unwrap_or_default();
    HEXLOWER.encode(Sha256::digest(&decided).get(..16).unwrap_or_default())
}

impl RoomCommand {
    pub(crate) fn new(kind: CommandKind, context: RequestContext, peer: Option<PeerId>) -> Self {
        Self {
            kind,
            account: context.quota_account(),
            request_context: context,
            peer,
            cancel: CancellationToken::new(),
            started: None,
            recovery_guard: None,
            reservation: None,
        }
    }

    /// Splits the command into what the inbox stores and what only this process knows.
    pub(crate) fn into_inbox_item(self) -> Result<(InboxItem, LiveCommand), StoreError> {
        let mut model = None;
        let body = match self.kind {
            CommandKind::Message(message) => {
                model = message.model;
                InboxBody::Message {
                    parts: message.parts,
                    model: message.model_name,
                    after: message.after,
                    client_tools: self.request_context.client_tool_definitions().to_vec(),
                }
            }
            CommandKind::Decisions(responses) => InboxBody::Decisions { responses },
            CommandKind::Resume => InboxBody::Stop,
        };
        let id = match &body {
            InboxBody::Decisions { responses } => {
                decision_id(self.request_context.subject(), responses)
            }
            _ => random_id()?,
        };
        let item = InboxItem::new(id, unix_millis_now(), body)
            .with_principal(self.request_context.principal_record())
            .with_peer(self.peer.as_deref().map(str::to_owned));
        let live = LiveCommand {
            cancel: self.cancel,
            started: self.started,
            model,
            reservation: self.reservation,
            ..LiveCommand::new(self.request_context)
        };
        Ok((item, live))
    }

    /// Joins an item of the inbox with what this process knows about it.
    pub(crate) fn from_inbox_item(
        item: &InboxItem,
        live: LiveCommand,
        endpoint: &EndpointRuntime,
    ) -> Self {
        let kind = match item.body.clone() {
            InboxBody::Message { parts, model: name, after, .. } => {
                // A model that is not offered any more is replaced by the endpoint's.
                let found = name.as_deref().and_then(|name| endpoint.server.models.find(name).ok());
                let model = live.model.or(found);
                CommandKind::Message(IncomingMessage { parts, model, model_name: name, after })
            }
            InboxBody::Decisions { responses } => CommandKind::Decisions(responses),
            InboxBody::Stop => {
                live.cancel.cancel();
                CommandKind::Resume
            }
        };
        Self {
            kind,
            account: live.request_context.quota_account(),
            reservation: live.reservation,
            request_context: live.request_context,
            peer: item.peer.as_deref().map(PeerId::from),
            cancel: live.cancel,
            started: live.started,
            recovery_guard: None,
        }
    }

    /// Resumes a turn.
    pub(crate) fn resume(context: RequestContext) -> Self {
        Self::new(CommandKind::Resume, context, None)
    }

    /// Returns the receiver of [`started`](Self::started).
    pub(crate) fn started_receiver(&mut self) -> oneshot::Receiver<Result<u64, ConversationError>> {
        let (sender, receiver) = oneshot::channel();
        self.started = Some(sender);
        receiver
    }
}
