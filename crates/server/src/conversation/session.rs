//! A conversation in the hands of an endpoint's handler: to answer in it, or to hand the prompt on.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{Stream, StreamExt as _};
use serde_json::{Map, Value};
use tokio_util::sync::DropGuard;
use toolwright_chat::{ChatError, ChatEvent, ModelId, StoreError, TurnEnd, TurnRequest, Usage};
use toolwright_core::{Caller, CancellationToken, Content, Role};

use crate::auth::request_context::RequestContext;
use crate::conversation::event::{EndpointEvent, PeerId};
use crate::conversation::external_transcript::ExternalTranscript;
use crate::conversation::room::Room;
use crate::conversation::room_command::{IncomingMessage, StartedSender};
use crate::conversation::turn_error::TurnError;

/// One prompt in one conversation; cheap to clone.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    room: Arc<Room>,
    request_context: RequestContext,
    peer: Option<PeerId>,
    /// Who hears what is told.
    recipient: Option<PeerId>,
    cancel: CancellationToken,
    turn_state: Mutex<TurnState>,
}

/// What was told in this turn.
#[derive(Default)]
pub(crate) struct TurnState {
    /// How it ended; told when everybody had a last word.
    pub(crate) summary: Option<TurnSummary>,
    pub(crate) paused: bool,
    pub(crate) model: Option<ModelId>,
    /// What no chat has told the journal.
    pub(crate) external_transcript: ExternalTranscript,
    /// Dropped when a resumed turn has asked again about what it waits for, or goes on.
    pub(crate) recovery_guard: Option<DropGuard>,
}

/// How a turn ended.
pub(crate) struct TurnSummary {
    pub(crate) end: TurnEnd,
    pub(crate) content: Vec<Content>,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<f64>,
}

impl Session {
    pub(crate) fn new(
        room: &Arc<Room>,
        context: RequestContext,
        peer: Option<PeerId>,
        cancel: CancellationToken,
    ) -> Self {
        Self(Arc::new(Inner {
            recipient: room.endpoint.event_recipient(peer.as_ref()),
            room: Arc::clone(room),
            request_context: context,
            peer,
            cancel,
            turn_state: Mutex::default(),
        }))
    }

    /// The conversation's name in the store, which no other conversation has.
    pub fn conversation_id(&self) -> &str {
        &self.0.room.id
    }

    /// What was said before this prompt, as far as the endpoint's window goes: for an agent without a memory of its own.
    ///
    /// # Errors
    ///
    /// When the store does not tell.
    pub async fn history(&self) -> Result<Vec<toolwright_chat::Message>, StoreError> {
        let endpoint = &self.0.room.endpoint;
        let entries = endpoint.store.load(&self.0.room.id).await?;
        Ok(endpoint.window.select_messages(&entries))
    }

    /// What a parameter of the endpoint's path is.
    pub fn param(&self, name: &str) -> Option<&str> {
        let param = self.0.room.params.iter().find(|(known, _)| known == name);
        param.map(|(_, value)| value.as_str())
    }

    pub(crate) fn params(&self) -> &[(String, String)] {
        &self.0.room.params
    }

    /// On whose behalf it is.
    pub fn caller(&self) -> &Caller {
        self.0.request_context.caller()
    }

    /// Who of those that take part it is, where that is known.
    pub fn peer_id(&self) -> Option<&str> {
        self.0.peer.as_deref()
    }

    /// How many take part.
    pub fn peer_count(&self) -> usize {
        self.0.room.peer_count()
    }

    /// Cancelled when somebody stops the turn.
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.0.cancel
    }

    /// Says more of an answer of one's own.
    pub fn send_text(&self, delta: impl Into<String>) {
        let delta = delta.into();
        let event = ChatEvent::Text { delta };
        self.turn_state().external_transcript.on_event(&event);
        self.publish(event);
    }

    /// Says how far it is.
    pub fn send_progress(&self, done: Option<f64>, total: Option<f64>, message: impl Into<String>) {
        let message = Some(message.into()).filter(|message| !message.is_empty());
        let event = EndpointEvent::Status {
            done,
            total,
            message,
        };
        self.0.room.publish(event, self.0.recipient.clone());
    }

    /// Tells something about the turn.
    pub fn send_metadata(&self, name: impl Into<String>, value: impl Into<Value>) {
        let metadata = Map::from_iter([(name.into(), value.into())]);
        self.publish_metadata(metadata);
    }

    pub(crate) fn publish_metadata(&self, metadata: Map<String, Value>) {
        if !metadata.is_empty() {
            let event = EndpointEvent::Metadata { metadata };
            self.0.room.publish(event, self.0.recipient.clone());
        }
    }

    /// Hands a prompt to the endpoint's model, which answers with its tools; waits until it has, or has to wait.
    ///
    /// # Errors
    ///
    /// When there is no answer; everybody has been told.
    pub async fn answer_with_model(
        &self,
        message: impl Into<IncomingMessage>,
    ) -> Result<(), TurnError> {
        let message = message.into();
        let mut request = self.with_session_settings(self.0.room.endpoint.chat.message());
        for (role, content) in message.parts {
            request = match role {
                Role::User => request.user(content),
                Role::Assistant => request.assistant(content),
            };
        }
        if let Some(model) = message.model {
            request = request.model(self.0.room.endpoint.with_guardrails(model));
        }
        self.run_turn(request, None).await
    }

    /// Answers with what somebody else tells: another framework's agent, a program.
    ///
    /// What is told is kept as if a model of ours had said it. The last event should be [`ChatEvent::Ended`]; without one the
    /// answer is what was said.
    pub async fn forward(&self, events: impl Stream<Item = ChatEvent> + Send) {
        let mut events = pin!(events);
        loop {
            let event = tokio::select! {
                biased;
                () = self.0.cancel.cancelled() => {
                    self.turn_state().external_transcript.end(TurnEnd::Cancelled);
                    return;
                }
                event = events.next() => event,
            };
            let Some(event) = event else { return };
            self.turn_state().external_transcript.on_event(&event);
            self.publish_deferring_end(event);
        }
    }

    /// Adds what every prompt of this session has.
    pub(crate) fn with_session_settings(&self, request: TurnRequest) -> TurnRequest {
        let room = &self.0.room;
        let request = request.conversation(&*room.id);
        let request = self
            .0
            .request_context
            .apply_to_turn(request, &room.endpoint);
        request.cancel_on(self.0.cancel.clone())
    }

    /// Takes a prompt as far as it goes.
    pub(crate) async fn run_turn(
        &self,
        request: TurnRequest,
        mut started: StartedSender,
    ) -> Result<(), TurnError> {
        let metrics = &self.0.room.endpoint.server.metrics;
        let mut events = request.stream();
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                // The turn said so itself.
                Err(ChatError::Ended { .. }) => return Ok(()),
                Err(error) => {
                    let turn_error = TurnError::from_chat_error(&error);
                    if let Some(started) = started.take() {
                        // Whoever asked is told; to the others nothing has happened.
                        let _ = started.send(Err(error));
                        return Err(turn_error.already_reported());
                    }
                    return Err(turn_error);
                }
            };
            if let Some(started) = started.take() {
                let after = self.0.room.begin_turn(false).await?;
                // Whoever asked may have gone.
                let _ = started.send(Ok(after));
            }
            metrics.on_chat_event(&event);
            let mut event = event;
            match &mut event {
                ChatEvent::TurnStarted {
                    conversation,
                    model,
                } => {
                    conversation.clone_from(&self.0.room.name);
                    self.turn_state().model = Some(model.clone());
                }
                ChatEvent::ApprovalRequested(_) => {}
                ChatEvent::TurnPaused { .. } => self.turn_state().paused = true,
                _ => self.turn_state().recovery_guard = None,
            }
            self.publish_deferring_end(event);
        }
        Ok(())
    }

    /// Tells an event; an end waits until everybody had a last word.
    fn publish_deferring_end(&self, event: ChatEvent) {
        match event {
            ChatEvent::TurnEnded {
                end,
                content,
                usage,
                cost,
            } => {
                self.turn_state().summary = Some(TurnSummary {
                    end,
                    content,
                    usage,
                    cost,
                });
            }
            event => self.publish(event),
        }
    }

    /// Says something that the journal is not told.
    pub(crate) fn publish_text(&self, text: &str) {
        let delta = text.to_owned();
        self.publish(ChatEvent::Text { delta });
    }

    fn publish(&self, event: ChatEvent) {
        self.0.room.publish(event, self.0.recipient.clone());
    }

    pub(crate) fn publish_endpoint_event(&self, event: EndpointEvent) {
        self.0.room.publish(event, self.0.recipient.clone());
    }

    pub(crate) fn publish_end(&self, ended: TurnSummary) {
        let TurnSummary {
            end,
            content,
            usage,
            cost,
        } = ended;
        self.publish(ChatEvent::TurnEnded {
            end,
            content,
            usage,
            cost,
        });
    }

    pub(crate) fn turn_state(&self) -> MutexGuard<'_, TurnState> {
        self.0
            .turn_state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
