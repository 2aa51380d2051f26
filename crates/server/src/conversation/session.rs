//! The session that a handler receives: sends its own answer, or has the endpoint's model answer.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{Stream, StreamExt as _};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};
use tokio_util::sync::DropGuard;
use toolwright_chat::{
    ChatError, ChatEvent, ChatStream, InboxItem, ModelId, Response, StoreError, TurnEnd,
    TurnRequest, Usage,
};
use toolwright_conversation::shared_log::Publisher;
use toolwright_conversation::{ConversationError, ConversationEvent, EndpointEvent, PeerId};
use toolwright_core::{Bundle, BundleItem, Caller, CancellationToken};

use crate::auth::request_context::{RequestContext, is_client_tool_call};
use crate::conversation::external_transcript::ExternalTranscript;
use crate::conversation::room::Room;
use crate::conversation::room_command::{IncomingMessage, StartedSender};
use crate::conversation::turn_error::TurnError;
use crate::conversation::turn_events::TurnEvents;
use crate::quota::account::QuotaAccount;

/// The result of a call that needs approval in an unstored conversation, which the model reads.
const APPROVAL_UNAVAILABLE: &str =
    "not approved: the call needs a person's approval, and nobody can be asked over this API";

/// A message in a conversation, and the means to answer it; cheap to clone.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    room: Arc<Room>,
    request_context: RequestContext,
    peer: Option<PeerId>,
    /// The peer that receives this session's events; `None` broadcasts to all.
    recipient: Option<PeerId>,
    publisher: Publisher,
    cancel: CancellationToken,
    started_at: Instant,
    turn_state: Mutex<TurnState>,
}

/// The state of the running turn.
#[derive(Default)]
pub(crate) struct TurnState {
    /// The `TurnEnded` event, published after the interceptors' `before_completion`.
    pub(crate) end: Option<ChatEvent>,
    pub(crate) paused: bool,
    pub(crate) model: Option<ModelId>,
    /// Events that no chat has written to the journal.
    pub(crate) external_transcript: ExternalTranscript,
    /// Dropped when a recovered turn has requested its approvals again, or makes progress.
    pub(crate) recovery_guard: Option<DropGuard>,
    /// The id of the entry after which the message continues, if it names one.
    pub(crate) branch_after: Option<String>,
    /// The inbox item of the message or the decisions, until a turn takes it.
    pub(crate) inbox_item: Option<InboxItem>,
    /// The id of that item; `None` if the conversation is not stored.
    pub(crate) item_id: Option<String>,
    /// True if no interceptor has rejected the message: then it may be stored as it is.
    pub(crate) is_message_checked: bool,
    /// The person whose quota the turn uses, if that is not the principal of the session.
    pub(crate) account: Option<QuotaAccount>,
    /// True if the client has received the error of the turn as its response.
    pub(crate) is_error_reported: bool,
    /// True if an interceptor limits the cost of the conversation.
    pub(crate) has_budget: bool,
    /// The tools that the handler has added.
    added_tools: Vec<BundleItem>,
}

impl Session {
    pub(crate) fn new(
        room: &Arc<Room>,
        context: RequestContext,
        peer: Option<PeerId>,
        publisher: Publisher,
        cancel: CancellationToken,
    ) -> Self {
        Self(Arc::new(Inner {
            recipient: room.endpoint.event_recipient(peer.as_ref()),
            room: Arc::clone(room),
            request_context: context,
            peer,
            publisher,
            cancel,
            started_at: Instant::now(),
            turn_state: Mutex::default(),
        }))
    }

    /// The conversation's name in the store, which is unique.
    pub fn conversation_id(&self) -> &str {
        &self.0.room.id
    }

    /// The messages before this one, within the endpoint's window: for an agent without a memory of its own.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn history(&self) -> Result<Vec<toolwright_chat::Message>, StoreError> {
        let endpoint = &self.0.room.endpoint;
        let window = &endpoint.window;
        let after = self.turn_state().branch_after.clone();
        let path = window.load_path(&endpoint.store, self.conversation_id(), after.as_deref());
        let entries = path.await?;
        Ok(window.select_messages(&entries))
    }

    /// The value of a parameter of the endpoint's path.
    pub fn param(&self, name: &str) -> Option<&str> {
        let param = self.0.room.params.iter().find(|(known, _)| known == name);
        param.map(|(_, value)| value.as_str())
    }

    pub(crate) fn params(&self) -> &[(String, String)] {
        &self.0.room.params
    }

    /// The caller on whose behalf tools run.
    pub fn caller(&self) -> &Caller {
        self.0.request_context.caller()
    }

    pub(crate) fn request_context(&self) -> &RequestContext {
        &self.0.request_context
    }

    /// The id of the peer that sent the message, if it is known.
    pub fn peer_id(&self) -> Option<&str> {
        self.0.peer.as_deref()
    }

    /// The number of connected clients.
    pub fn peer_count(&self) -> usize {
        self.0.room.peers.count()
    }

    /// Cancelled when the turn is stopped.
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.0.cancel
    }

    /// Appends text to an answer of the handler's own.
    pub fn send_text(&self, delta: impl Into<String>) {
        let delta = delta.into();
        let event = ChatEvent::Text { delta };
        self.turn_state().external_transcript.on_event(&event);
        self.publish(event);
    }

    /// Publishes progress.
    pub fn send_progress(&self, done: Option<f64>, total: Option<f64>, message: impl Into<String>) {
        let message = Some(message.into()).filter(|message| !message.is_empty());
        self.publish(EndpointEvent::Status { done, total, message });
    }

    /// Publishes a metadata value.
    pub fn send_metadata(&self, name: impl Into<String>, value: impl Into<Value>) {
        let metadata = Map::from_iter([(name.into(), value.into())]);
        self.publish_metadata(metadata);
    }

    pub(crate) fn publish_metadata(&self, metadata: Map<String, Value>) {
        if !metadata.is_empty() {
            self.publish(EndpointEvent::Metadata { metadata });
        }
    }

    /// Adds tools to the answers of the model in this turn.
    ///
    /// Only this handler has them: a turn that pauses for an approval resumes without them, so tools that need approval belong
    /// to the endpoint.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::server::{Endpoint, IncomingMessage, Path, Session};
    /// use toolwright::tools;
    ///
    /// /// The orders of one customer.
    /// struct Orders(String);
    ///
    /// #[tools(manual)]
    /// impl Orders {
    ///     /// Lists the customer's orders.
    ///     #[tool(read_only)]
    ///     fn list_orders(&self) -> String {
    ///         format!("{} has ordered a bicycle", self.0)
    ///     }
    /// }
    ///
    /// let endpoint = Endpoint::new("/support/{customer}").for_subject("customer").on_message(
    ///     |message: IncomingMessage, session: Session, Path(customer): Path<String>| async move {
    ///         session.add_tools(Orders(customer));
    ///         session.answer_with_model(message).await
    ///     },
    /// );
    /// ```
    pub fn add_tools(&self, bundle: impl Bundle) {
        self.turn_state().added_tools.extend(bundle.into_items());
    }

    /// Has the endpoint's model answer with its tools; returns when the turn has ended or paused.
    ///
    /// # Errors
    ///
    /// When the turn fails. Return the error from the handler: it is then published.
    pub async fn answer_with_model(
        &self,
        message: impl Into<IncomingMessage>,
    ) -> Result<(), TurnError> {
        self.run_turn(self.message_request(message.into()).stream(), None).await
    }

    /// The request that has the endpoint's model answer a message.
    fn message_request(&self, message: IncomingMessage) -> TurnRequest {
        let endpoint = &self.0.room.endpoint;
        let mut request = self.with_session_settings(endpoint.chat.message());
        for part in message.parts {
            request = request.message_in_role(part.role, part.content);
        }
        request = self.with_inbox_item(request);
        if let Some(after) = message.after {
            request = request.after(after);
        }
        let model = message.model.map(|model| endpoint.with_guardrails(model));
        if let Some(conversation) = &self.0.room.unstored {
            let model = model.unwrap_or_else(|| Arc::clone(&endpoint.model));
            return request.model(conversation.with_format(model));
        }
        match model {
            Some(model) => request.model(model),
            None => request,
        }
    }

    /// Answers with the events of another framework's agent or a program.
    ///
    /// The events are stored like those of a model. The last one should be [`ChatEvent::TurnEnded`]; without it the answer
    /// is the text so far. A stream that goes on when the [time of the turn](toolwright_chat::TurnLimits::time) is up is cut off.
    pub async fn forward(&self, events: impl Stream<Item = ChatEvent> + Send) {
        let mut events = pin!(events);
        let mut has_steps = false;
        let max = self.0.room.endpoint.max_turn_time;
        let mut time_is_up = pin!(sleep(max.saturating_sub(self.0.started_at.elapsed())));
        loop {
            let event = tokio::select! {
                biased;
                () = self.0.cancel.cancelled() => {
                    self.turn_state().external_transcript.end(TurnEnd::Cancelled);
                    return;
                }
                () = &mut time_is_up => {
                    let reason = format!("it took {} seconds", max.as_secs());
                    self.turn_state().external_transcript.end(TurnEnd::Limit { reason });
                    return;
                }
                event = events.next() => event,
            };
            let Some(event) = event else { return };
            self.turn_state().external_transcript.on_event(&event);
            match &event {
                ChatEvent::Step { usage, cost, .. } => {
                    has_steps = true;
                    self.count_usage(*usage, *cost).await;
                }
                ChatEvent::TurnEnded { usage, cost, .. } if !has_steps => {
                    self.count_usage(*usage, *cost).await;
                }
                _ => {}
            }
            self.publish(event);
        }
    }

    /// Adds the person's own tools, of the servers that they are connected to, as far as the scopes and the endpoint allow.
    pub(crate) async fn add_personal_tools(&self) {
        let (context, endpoint) = (&self.0.request_context, &self.0.room.endpoint);
        let Some(connections) = &endpoint.server.connections else {
            return;
        };
        let mut tools = connections.tools(context.subject()).await;
        tools.retain(|tool| context.may_use(tool.spec()) && endpoint.keeps_tool(tool.spec()));
        self.turn_state().added_tools.extend(tools.into_iter().map(BundleItem::Tool));
    }

    /// Sets the conversation, principal and cancellation of this session.
    pub(crate) fn with_session_settings(&self, request: TurnRequest) -> TurnRequest {
        let room = &self.0.room;
        let request = match &room.unstored {
            Some(conversation) => conversation.apply_to_turn(request),
            None => request.conversation(&*room.id),
        };
        let request = match room.held_lease() {
            Some(lease) => request.held_lease(lease),
            None => request,
        };
        let request = self.0.request_context.apply_to_turn(request, &room.endpoint);
        let request = request.tools(self.turn_state().added_tools.clone());
        let request = room.endpoint.add_resolved_tools(request);
        let has_budget = self.turn_state().has_budget;
        let request = match has_budget || self.limits_cost() {
            true => request.require_price(),
            false => request,
        };
        request.cancel_on(self.0.cancel.clone())
    }

    /// Has the inbox item of this session removed when the request's entries are appended; the first request takes it.
    pub(crate) fn with_inbox_item(&self, request: TurnRequest) -> TurnRequest {
        match self.turn_state().inbox_item.take() {
            Some(item) => request.inbox_item(item),
            None => request,
        }
    }

    /// Returns the inbox item of the message, unless its entries are in the journal; takes it from this session.
    pub(crate) async fn find_untaken_item(&self) -> Result<Option<InboxItem>, StoreError> {
        let (item, id) = {
            let mut state = self.turn_state();
            (state.inbox_item.take(), state.item_id.clone())
        };
        let (None, Some(id)) = (&item, id) else {
            return Ok(item);
        };
        // A request has it that may have failed before it appended anything.
        let inbox = self.0.room.endpoint.store.inbox(self.conversation_id()).await?;
        Ok(inbox.into_iter().find(|item| item.id == id))
    }

    /// Runs a turn until it ends or pauses, and publishes its events.
    pub(crate) async fn run_turn(
        &self,
        turn: ChatStream,
        mut started: StartedSender,
    ) -> Result<(), TurnError> {
        let mut events = TurnEvents::new(turn);
        loop {
            let mut event = match events.next().await {
                Some(Ok(event)) => event,
                // A `TurnEnded` event was already published.
                Some(Err(ChatError::Ended { .. })) => return Ok(()),
                Some(Err(error)) => {
                    let error = Arc::new(error);
                    if let Some(started) = started.take() {
                        // The client receives the error as the response; for other subscribers nothing has happened.
                        let _ = started.send(Err(ConversationError::Chat(Arc::clone(&error))));
                        self.turn_state().is_error_reported = true;
                    }
                    return Err(TurnError::Chat(error));
                }
                None => {
                    let response = events.into_response();
                    match response.and_then(|response| self.deny_pending_approvals(response)) {
                        Some(request) => events = TurnEvents::new(request.stream()),
                        None => return Ok(()),
                    }
                    continue;
                }
            };
            if let Some(started) = started.take() {
                let after = events.run_beside(self.0.room.resume_turn()).await?;
                // The receiver may be dropped.
                let _ = started.send(Ok(after));
            }
            self.0.room.endpoint.server.metrics.on_chat_event(&event);
            if let ChatEvent::Step { usage, cost, .. } = &event {
                events.run_beside(self.count_usage(*usage, *cost)).await;
            }
            match &mut event {
                ChatEvent::TurnStarted { conversation, model } => {
                    conversation.clone_from(&self.0.room.name);
                    self.turn_state().model = Some(model.clone());
                }
                ChatEvent::Fallback { model, .. } => self.turn_state().model = Some(model.clone()),
                ChatEvent::ApprovalRequested(approval) => {
                    let context = &self.0.request_context;
                    events.run_beside(self.0.room.list_approval(approval, context)).await;
                }
                ChatEvent::ApprovalDecided { call, .. } => {
                    let context = &self.0.request_context;
                    events.run_beside(self.0.room.unlist_approval(call, context)).await;
                    self.turn_state().recovery_guard = None;
                }
                ChatEvent::TurnPaused { .. } if self.denies_approvals() => continue,
                ChatEvent::TurnPaused { .. } => {
                    self.turn_state().paused = true;
                    // Before the client knows: its next message may need it.
                    events.run_beside(self.0.room.release_turn()).await;
                }
                _ => self.turn_state().recovery_guard = None,
            }
            self.publish(event);
        }
    }

    /// Adds the usage of a step to what its person has used.
    async fn count_usage(&self, usage: Usage, cost: Option<f64>) {
        let quotas = &self.0.room.endpoint.server.quotas;
        if let Some(account) = self.quota_account() {
            quotas.record_usage(&account, usage, cost).await;
        }
    }

    /// The person whose quota the turn uses; `None` if nothing is limited.
    fn quota_account(&self) -> Option<QuotaAccount> {
        if !self.0.room.endpoint.server.quotas.is_enabled() {
            return None;
        }
        let account = self.turn_state().account.clone();
        account.or_else(|| self.0.request_context.quota_account())
    }

    /// Returns true if the person of the turn may not spend more than a certain amount.
    fn limits_cost(&self) -> bool {
        let quotas = &self.0.room.endpoint.server.quotas;
        self.quota_account().is_some_and(|account| quotas.limits_cost(&account))
    }

    /// Returns true if the turn cannot pause for a decision, because its conversation is not stored. The turn of a handler
    /// pauses anyway, which is an error for the client: a handler that returned does not continue.
    fn denies_approvals(&self) -> bool {
        self.0.room.unstored.is_some() && self.0.room.endpoint.on_message.is_none()
    }

    /// Denies the pending approvals where a turn cannot pause; returns the request that continues the turn. Calls of the
    /// client's own tools end the turn instead: the client runs them and sends their results.
    fn deny_pending_approvals(&self, response: Response) -> Option<TurnRequest> {
        let pending = response.pending_approvals();
        if !self.denies_approvals() || pending.is_empty() {
            return None;
        }
        if pending.iter().any(is_client_tool_call) {
            self.turn_state().end = Some(ChatEvent::TurnEnded {
                end: TurnEnd::Answered,
                content: Vec::new(),
                usage: response.usage(),
                cost: response.cost(),
            });
            return None;
        }
        let denials = pending.iter().map(|approval| approval.deny(APPROVAL_UNAVAILABLE));
        let denials = denials.collect();
        Some(response.submit_approvals(denials))
    }

    /// Publishes an event; a `TurnEnded` is kept until the interceptors have run.
    pub(crate) fn publish(&self, event: impl Into<ConversationEvent>) {
        match event.into() {
            ConversationEvent::Chat(end @ ChatEvent::TurnEnded { .. }) => {
                self.turn_state().end = Some(end);
            }
            event => self.publish_at_once(event),
        }
    }

    /// Publishes an event, also a `TurnEnded`.
    pub(crate) fn publish_at_once(&self, event: impl Into<ConversationEvent>) {
        self.0.publisher.publish(event, self.0.recipient.clone());
    }

    /// The peer that receives this session's events; `None` broadcasts to all.
    pub(crate) fn recipient(&self) -> Option<PeerId> {
        self.0.recipient.clone()
    }

    pub(crate) fn turn_state(&self) -> MutexGuard<'_, TurnState> {
        self.0.turn_state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
