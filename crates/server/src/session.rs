//! A conversation in the hands of an endpoint's handler: to answer in it, or to hand the prompt on.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{Stream, StreamExt as _};
use serde_json::{Map, Value};
use tokio_util::sync::DropGuard;
use toolwright_chat::{TurnRequest, ChatError, ChatEvent, TurnEnd, ModelId, StoreError, Usage};
use toolwright_core::{Caller, CancellationToken, Content, Role};

use crate::event::{Notice, PeerId};
use crate::guest::Guest;
use crate::job::{Message, Taken};
use crate::record::Record;
use crate::room::Room;
use crate::trouble::Trouble;

/// One prompt in one conversation; cheap to clone.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    room: Arc<Room>,
    guest: Guest,
    peer: Option<PeerId>,
    /// Who hears what is told.
    to: Option<PeerId>,
    cancel: CancellationToken,
    told: Mutex<Told>,
}

/// What was told in this turn.
#[derive(Default)]
pub(crate) struct Told {
    /// How it ended; told when everybody had a last word.
    pub(crate) ended: Option<Ended>,
    pub(crate) paused: bool,
    pub(crate) model: Option<ModelId>,
    /// What no chat has told the journal.
    pub(crate) record: Record,
    /// Dropped when a resumed turn has asked again about what it waits for, or goes on.
    pub(crate) settled: Option<DropGuard>,
}

/// How a turn ended.
pub(crate) struct Ended {
    pub(crate) end: TurnEnd,
    pub(crate) content: Vec<Content>,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<f64>,
}

impl Session {
    pub(crate) fn new(
        room: &Arc<Room>,
        guest: Guest,
        peer: Option<PeerId>,
        cancel: CancellationToken,
    ) -> Self {
        Self(Arc::new(Inner {
            to: room.live.audience(peer.as_ref()),
            room: Arc::clone(room),
            guest,
            peer,
            cancel,
            told: Mutex::default(),
        }))
    }

    /// The conversation's name in the store, which no other conversation has.
    pub fn conversation(&self) -> &str {
        &self.0.room.id
    }

    /// What was said before this prompt, as far as the endpoint's window goes: for an agent without a memory of its own.
    ///
    /// # Errors
    ///
    /// When the store does not tell.
    pub async fn history(&self) -> Result<Vec<toolwright_chat::Message>, StoreError> {
        let live = &self.0.room.live;
        let entries = live.store.load(&self.0.room.id).await?;
        Ok(live.window.select_messages(&entries))
    }

    /// What a parameter of the endpoint's path is.
    pub fn param(&self, name: &str) -> Option<&str> {
        let found = self.0.room.params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn params(&self) -> &[(String, String)] {
        &self.0.room.params
    }

    /// On whose behalf it is.
    pub fn caller(&self) -> &Caller {
        self.0.guest.caller()
    }

    /// Who of those that take part it is, where that is known.
    pub fn peer(&self) -> Option<&str> {
        self.0.peer.as_deref()
    }

    /// How many take part.
    pub fn peers(&self) -> usize {
        self.0.room.peers()
    }

    /// Cancelled when somebody stops the turn.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.0.cancel
    }

    /// Says more of an answer of one's own.
    pub fn text(&self, delta: impl Into<String>) {
        let delta = delta.into();
        let event = ChatEvent::Text { delta };
        self.told().record.hear(&event);
        self.tell(event);
    }

    /// Says how far it is.
    pub fn progress(&self, done: Option<f64>, total: Option<f64>, message: impl Into<String>) {
        let message = Some(message.into()).filter(|message| !message.is_empty());
        let notice = Notice::Status {
            done,
            total,
            message,
        };
        self.0.room.tell(notice, self.0.to.clone());
    }

    /// Tells something about the turn.
    pub fn metadata(&self, name: impl Into<String>, value: impl Into<Value>) {
        let metadata = Map::from_iter([(name.into(), value.into())]);
        self.tell_metadata(metadata);
    }

    pub(crate) fn tell_metadata(&self, metadata: Map<String, Value>) {
        if !metadata.is_empty() {
            let notice = Notice::Metadata { metadata };
            self.0.room.tell(notice, self.0.to.clone());
        }
    }

    /// Hands a prompt to the endpoint's model, which answers with its tools; waits until it has, or has to wait.
    ///
    /// # Errors
    ///
    /// When there is no answer; everybody has been told.
    pub async fn stream(&self, message: impl Into<Message>) -> Result<(), Trouble> {
        let message = message.into();
        let mut ask = self.ask(self.0.room.live.chat.message());
        for (role, content) in message.parts {
            ask = match role {
                Role::User => ask.user(content),
                Role::Assistant => ask.assistant(content),
            };
        }
        if let Some(model) = message.model {
            ask = ask.model(self.0.room.live.guarded(model));
        }
        self.drive(ask, None).await
    }

    /// Answers with what somebody else tells: another framework's agent, a program.
    ///
    /// What is told is kept as if a model of ours had said it. The last event should be [`ChatEvent::Ended`]; without one the
    /// answer is what was said.
    pub async fn feed(&self, events: impl Stream<Item = ChatEvent> + Send) {
        let mut events = pin!(events);
        loop {
            let event = tokio::select! {
                biased;
                () = self.0.cancel.cancelled() => {
                    self.told().record.end(TurnEnd::Cancelled);
                    return;
                }
                event = events.next() => event,
            };
            let Some(event) = event else { return };
            self.told().record.hear(&event);
            self.pass_on(event);
        }
    }

    /// Adds what every prompt of this session has.
    pub(crate) fn ask(&self, ask: TurnRequest) -> TurnRequest {
        let room = &self.0.room;
        let ask = ask.conversation(&*room.id);
        let ask = self.0.guest.limit(ask, &room.live);
        ask.cancel_on(self.0.cancel.clone())
    }

    /// Takes a prompt as far as it goes.
    pub(crate) async fn drive(&self, ask: TurnRequest, mut taken: Taken) -> Result<(), Trouble> {
        let metrics = &self.0.room.live.app.metrics;
        let mut events = ask.stream();
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                // The turn said so itself.
                Err(ChatError::Ended { .. }) => return Ok(()),
                Err(error) => {
                    let trouble = Trouble::of(&error);
                    if let Some(taken) = taken.take() {
                        // Whoever asked is told; to the others nothing has happened.
                        let _ = taken.send(Err(error));
                        return Err(trouble.quiet());
                    }
                    return Err(trouble);
                }
            };
            if let Some(taken) = taken.take() {
                let after = self.0.room.begin(false).await?;
                // Whoever asked may have gone.
                let _ = taken.send(Ok(after));
            }
            metrics.hear(&event);
            let mut event = event;
            match &mut event {
                ChatEvent::TurnStarted {
                    conversation,
                    model,
                } => {
                    conversation.clone_from(&self.0.room.name);
                    self.told().model = Some(model.clone());
                }
                ChatEvent::ApprovalRequested(_) => {}
                ChatEvent::TurnPaused { .. } => self.told().paused = true,
                _ => self.told().settled = None,
            }
            self.pass_on(event);
        }
        Ok(())
    }

    /// Tells an event; an end waits until everybody had a last word.
    fn pass_on(&self, event: ChatEvent) {
        match event {
            ChatEvent::TurnEnded {
                end,
                content,
                usage,
                cost,
            } => {
                self.told().ended = Some(Ended {
                    end,
                    content,
                    usage,
                    cost,
                });
            }
            event => self.tell(event),
        }
    }

    /// Says something that the journal is not told.
    pub(crate) fn tell_text(&self, text: &str) {
        let delta = text.to_owned();
        self.tell(ChatEvent::Text { delta });
    }

    fn tell(&self, event: ChatEvent) {
        self.0.room.tell(event, self.0.to.clone());
    }

    pub(crate) fn tell_notice(&self, notice: Notice) {
        self.0.room.tell(notice, self.0.to.clone());
    }

    pub(crate) fn tell_ended(&self, ended: Ended) {
        let Ended {
            end,
            content,
            usage,
            cost,
        } = ended;
        self.tell(ChatEvent::TurnEnded {
            end,
            content,
            usage,
            cost,
        });
    }

    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
