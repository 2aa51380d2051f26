//! What a room is asked to do.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;
use toolwright_chat::{ChatError, ApprovalResponse, Model};
use toolwright_core::{CancellationToken, Content, Role};

use crate::event::PeerId;
use crate::guest::Guest;

/// Something to do in a conversation.
pub(crate) struct Job {
    pub(crate) what: Task,
    pub(crate) guest: Guest,
    pub(crate) peer: Option<PeerId>,
    pub(crate) cancel: CancellationToken,
    /// Told once it is known whether it can be done at all: the number before its first event.
    pub(crate) taken: Taken,
    /// Dropped when the turn waits for a decision, is over, or does something else than ask again.
    pub(crate) settled: Option<DropGuard>,
}

/// Tells whoever asked from where on to read, or why nothing will come.
pub(crate) type Taken = Option<oneshot::Sender<Result<u64, ChatError>>>;

pub(crate) enum Task {
    /// Somebody said something.
    Prompt(Message),
    /// Somebody decided.
    Decide(Vec<ApprovalResponse>),
    /// A turn goes on that was interrupted.
    Resume,
}

/// What somebody says to an endpoint.
#[derive(Clone)]
#[non_exhaustive]
pub struct Message {
    /// What is said, in order: mostly one part, of a person.
    pub parts: Vec<(Role, Vec<Content>)>,
    /// Who should answer, where that was chosen.
    pub model: Option<Arc<dyn Model>>,
}

impl Message {
    /// Makes a message of a person's words.
    pub fn new(text: impl Into<String>) -> Self {
        Self::of(Role::User, vec![Content::text(text)])
    }

    /// Makes a message of content in somebody's name.
    pub fn of(role: Role, content: Vec<Content>) -> Self {
        Self {
            parts: vec![(role, content)],
            model: None,
        }
    }

    /// Nothing.
    pub(crate) fn silence() -> Self {
        Self {
            parts: Vec::new(),
            model: None,
        }
    }

    /// The words of it, parts on lines of their own.
    pub fn text(&self) -> String {
        let content = self.parts.iter().flat_map(|(_, content)| content);
        let texts: Vec<&str> = content.filter_map(crate::ui::text).collect();
        texts.join("\n")
    }

    /// Says something else instead.
    pub fn set_text(&mut self, text: impl Into<String>) {
        self.parts = Self::new(text).parts;
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl Job {
    pub(crate) fn new(what: Task, guest: Guest, peer: Option<PeerId>) -> Self {
        Self {
            what,
            guest,
            peer,
            cancel: CancellationToken::new(),
            taken: None,
            settled: None,
        }
    }

    /// Goes on with a turn.
    pub(crate) fn resume(guest: Guest) -> Self {
        Self::new(Task::Resume, guest, None)
    }

    /// Lets the one who asks wait until it is known whether it can be done.
    pub(crate) fn wait(&mut self) -> oneshot::Receiver<Result<u64, ChatError>> {
        let (taken, wait) = oneshot::channel();
        self.taken = Some(taken);
        wait
    }
}
