//! A conversation in memory: its event log, the running turn, and the queue of commands.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::timeout;
use toolwright_chat::{
    Entry, Model, Owner, PendingApproval, PrincipalRecord, StoreError, TurnRequest, Usage,
    load_unfinished_turn,
};
use toolwright_core::CancellationToken;

use crate::auth::request_context::RequestContext;
use crate::conversation::event::{ConversationEvent, EndpointEvent, PeerId, SequencedEvent};
use crate::conversation::event_log::{EventLog, PartialStep};
use crate::conversation::room_command::{CommandKind, MessagePart, RoomCommand};
use crate::conversation::unstored::UnstoredConversation;
use crate::conversation::usage::ConversationUsage;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::PathParams;
use crate::http::error_response::ErrorResponse;

/// The maximum number of queued messages.
const MAX_QUEUED_MESSAGES: usize = 16;

/// How long a request for a snapshot waits for a recovered turn to show its pending approvals.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a snapshot is retried when turns begin meanwhile.
const SNAPSHOT_ATTEMPTS: usize = 8;

/// A conversation in memory.
pub(crate) struct Room {
    /// The conversation's name in the store, which includes its owner.
    pub(crate) id: String,
    /// The name that clients use.
    pub(crate) name: String,
    pub(crate) endpoint: Arc<EndpointRuntime>,
    /// The values of the path's parameters.
    pub(crate) params: PathParams,
    event_log: Mutex<EventLog>,
    /// The sequence number of the newest event; wakes waiting subscribers.
    newest_seq: watch::Sender<u64>,
    queue: Mutex<TurnQueue>,
    /// True once the turn that an earlier process left unfinished was resumed, or there was none.
    recovered: tokio::sync::Mutex<bool>,
    peer_count: AtomicUsize,
    /// The model that the last message chose.
    chosen_model: Mutex<Option<Arc<dyn Model>>>,
    usage: tokio::sync::Mutex<Option<ConversationUsage>>,
    /// The history of the request, if the conversation is not stored.
    pub(crate) unstored: Option<Arc<UnstoredConversation>>,
}

#[derive(Default)]
struct TurnQueue {
    waiting: VecDeque<RoomCommand>,
    /// Cancels the running turn.
    running: Option<CancellationToken>,
    /// Cancelled when a recovered turn has paused, ended or made progress.
    recovery: Option<CancellationToken>,
}

/// A snapshot of a conversation; events after [`seq`](Self::seq) complete it.
#[derive(Serialize)]
pub(crate) struct ConversationSnapshot {
    pub(crate) id: String,
    /// The journal up to the running turn.
    pub(crate) entries: Vec<Entry>,
    /// The sequence number up to which events are included in the entries.
    pub(crate) seq: u64,
    pub(crate) running: bool,
    pub(crate) pending: Vec<PendingApproval>,
    /// The output of the current step, where its events were evicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial: Option<PartialStep>,
    /// Queued messages in order, each with its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) queued: Vec<Vec<MessagePart>>,
    pub(crate) peers: usize,
}

impl Room {
    pub(crate) fn new(
        endpoint: Arc<EndpointRuntime>,
        id: String,
        name: String,
        params: PathParams,
    ) -> Self {
        let log = EventLog::new();
        Self {
            id,
            name,
            endpoint,
            params,
            newest_seq: watch::Sender::new(log.newest_seq()),
            event_log: Mutex::new(log),
            queue: Mutex::default(),
            recovered: tokio::sync::Mutex::default(),
            peer_count: AtomicUsize::new(0),
            chosen_model: Mutex::default(),
            usage: tokio::sync::Mutex::default(),
            unstored: None,
        }
    }

    /// A room for one message, whose conversation is not stored.
    pub(crate) fn unstored(mut self, conversation: UnstoredConversation) -> Self {
        self.unstored = Some(Arc::new(conversation));
        self
    }

    pub(crate) fn event_log(&self) -> MutexGuard<'_, EventLog> {
        self.event_log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, TurnQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes an event to all subscribers, or to one peer.
    pub(crate) fn publish(
        &self,
        event: impl Into<ConversationEvent>,
        to: Option<PeerId>,
    ) -> Arc<SequencedEvent> {
        let sequenced = self.event_log().append(event.into(), to);
        self.newest_seq.send_replace(sequenced.seq);
        sequenced
    }

    pub(crate) fn watch_newest_seq(&self) -> watch::Receiver<u64> {
        self.newest_seq.subscribe()
    }

    pub(crate) fn is_turn_running(&self) -> bool {
        self.event_log().turn().running
    }

    /// Returns true if the room can be dropped from memory: no turn runs, no client is connected, and nothing would be lost.
    pub(crate) fn is_evictable(&self) -> bool {
        let is_running = self.queue().running.is_some();
        // Pending approvals are in the journal of a stored conversation, and are requested again from there.
        let kept = self.endpoint.is_persistent() || self.event_log().pending().is_empty();
        !is_running && self.peer_count() == 0 && kept
    }

    /// Accepts a command of a client: 503 if a message could not be stored or answered, 429 if the queue is full. Returns
    /// true if it has to wait for another turn.
    ///
    /// Decisions belong to a turn that was accepted before, so the limits of the server do not apply to them.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        command: RoomCommand,
    ) -> Result<bool, ErrorResponse> {
        if matches!(command.kind, CommandKind::Message(_)) {
            self.endpoint.check_admission(self.unstored.is_none()).await?;
        }
        self.enqueue(command)
    }

    /// Queues a command, and starts the queue if it is idle. Returns true if the command has to wait for another turn.
    pub(crate) fn enqueue(self: &Arc<Self>, command: RoomCommand) -> Result<bool, ErrorResponse> {
        let mut queue = self.queue();
        let is_message = matches!(command.kind, CommandKind::Message(_));
        // Decisions are accepted even if the queue of messages is full.
        let max = if is_message { MAX_QUEUED_MESSAGES } else { 2 * MAX_QUEUED_MESSAGES };
        if queue.waiting.len() >= max {
            let message = "too many messages wait for this conversation already";
            return Err(ErrorResponse::too_many_requests(message));
        }
        let cancel = command.cancel.clone();
        match is_message {
            true => queue.waiting.push_back(command),
            false => queue.waiting.push_front(command),
        }
        if queue.running.is_some() {
            return Ok(true);
        }
        queue.running = Some(cancel);
        drop(queue);
        let room = Arc::clone(self);
        self.endpoint.server.running_turns.spawn(async move { room.run_queue().await });
        Ok(false)
    }

    /// Runs the queued commands one after the other.
    async fn run_queue(self: Arc<Self>) {
        let mut awaits_decision = false;
        loop {
            let next = {
                let mut queue = self.queue();
                let next = queue.waiting.pop_front_if(|command| {
                    // A message that was sent before the approval was requested does not answer it.
                    !awaits_decision || !matches!(command.kind, CommandKind::Message(_))
                });
                queue.running = next.as_ref().map(|command| command.cancel.clone());
                next
            };
            let Some(command) = next else { return };
            let to = self.endpoint.event_recipient(command.peer.as_ref());
            let done = AssertUnwindSafe(crate::conversation::turn::run_command(&self, command))
                .catch_unwind();
            let done = tokio::select! {
                done = done => done,
                // An unfinished turn is resumed from its journal later.
                () = self.endpoint.server.shutdown.cancelled() => return,
            };
            if done.is_err() {
                tracing::error!(conversation = self.id, "a handler of the endpoint panicked");
                let kind = "internal".to_owned();
                let message = "the endpoint failed; its log has the reason".to_owned();
                self.publish(EndpointEvent::Error { kind, message }, to);
            }
            let mut log = self.event_log();
            log.end_turn();
            awaits_decision = !log.pending().is_empty();
        }
    }

    /// Stops the running or paused turn, or one that an earlier process left unfinished; returns false if there was none.
    pub(crate) async fn stop_turn(self: &Arc<Self>) -> Result<bool, StoreError> {
        let mut recovered = self.recovered.lock().await;
        let running = self.queue().running.clone();
        if let Some(running) = running {
            running.cancel();
            return Ok(true);
        }
        let has_open_turn = self.has_open_turn()
            || (!*recovered
                && load_unfinished_turn(&*self.endpoint.store, &self.id).await?.is_some());
        if !has_open_turn {
            return Ok(false);
        }
        *recovered = true;
        // A paused turn ends like a running one: in the journal and as an event.
        let command = RoomCommand::resume(RequestContext::operator(&self.endpoint.server));
        command.cancel.cancel();
        Ok(self.enqueue(command).is_ok())
    }

    /// Resumes the turn that an earlier process left unfinished, on behalf of the principal that began it.
    ///
    /// If its credential has expired, the turn waits until that subject sends a request: `context` may be another principal.
    pub(crate) async fn recover_unfinished_turn(
        self: &Arc<Self>,
        context: &RequestContext,
    ) -> Result<(), StoreError> {
        let mut recovered = self.recovered.lock().await;
        if *recovered || self.has_open_turn() {
            return Ok(());
        }
        let Some(entries) = load_unfinished_turn(&*self.endpoint.store, &self.id).await? else {
            *recovered = true;
            return Ok(());
        };
        let record = PrincipalRecord::of_last_turn(&entries);
        let began = record.map_or(Owner::Operator, |it| Owner::Subject(it.subject.clone()));
        let principal = RequestContext::from_record(&self.endpoint.server, record);
        let principal = principal.or_else(|| (context.owner() == began).then(|| context.clone()));
        let Some(principal) = principal else {
            return Ok(());
        };
        *recovered = true;
        let settled = CancellationToken::new();
        self.queue().recovery = Some(settled.clone());
        let mut command = RoomCommand::resume(principal);
        command.recovery_guard = Some(settled.drop_guard());
        // A full queue means that the conversation runs already.
        let _ = self.enqueue(command);
        Ok(())
    }

    /// Returns true if this process runs a turn of the conversation, or has a paused one.
    fn has_open_turn(&self) -> bool {
        self.queue().running.is_some() || !self.event_log().pending().is_empty()
    }

    /// Waits until a recovered turn has requested its approvals again, has ended or made progress; at most
    /// [`RECOVERY_TIMEOUT`].
    pub(crate) async fn wait_until_recovered(&self) {
        let settled = self.queue().recovery.clone();
        if let Some(settled) = settled {
            // Another process may hold the lease: then the turn is shown as running.
            let _ = timeout(RECOVERY_TIMEOUT, settled.cancelled()).await;
        }
    }

    /// Loads the journal, without principals: scopes are visible to their principal only.
    pub(crate) async fn load_entries(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = self.endpoint.store.load(&self.id).await?;
        entries.iter_mut().for_each(|entry| entry.principal = None);
        Ok(entries)
    }

    /// A consistent snapshot of the journal and the event log.
    pub(crate) async fn snapshot(&self) -> Result<ConversationSnapshot, StoreError> {
        for _ in 0..SNAPSHOT_ATTEMPTS {
            let turn = self.event_log().turn().clone();
            let mut entries = self.load_entries().await?;
            // Read before the log: if a queued message begins in between, its event is in the log or the snapshot is
            // retried.
            let queued = self.queued_messages();
            let log = self.event_log();
            // A turn that began meanwhile may have written to the journal already.
            if log.turn().turn_number != turn.turn_number {
                continue;
            }
            let whole = log.retains_after(turn.seq_before);
            let mut snapshot = ConversationSnapshot {
                id: self.name.clone(),
                entries: Vec::new(),
                seq: log.newest_seq(),
                running: turn.running,
                pending: log.pending().to_vec(),
                partial: None,
                queued,
                peers: self.peer_count(),
            };
            if turn.running && whole {
                let known = |entry: &Entry| turn.entry_before.as_deref() == Some(&*entry.id);
                let end = entries.iter().position(known).map_or(0, |at| at + 1);
                entries.truncate(end);
                snapshot.seq = turn.seq_before;
                // The events include the pending approvals.
                snapshot.pending.clear();
            } else if turn.running {
                snapshot.partial = Some(log.partial().clone());
            }
            snapshot.entries = entries;
            return Ok(snapshot);
        }
        Err(StoreError::new("the conversation changes too fast to be shown; try again"))
    }

    /// The queued messages, except those whose answers are for one peer only.
    fn queued_messages(&self) -> Vec<Vec<MessagePart>> {
        let queue = self.queue();
        let messages = queue.waiting.iter().filter_map(|command| match &command.kind {
            CommandKind::Message(message)
                if self.endpoint.event_recipient(command.peer.as_ref()).is_none() =>
            {
                Some(message.parts.clone())
            }
            _ => None,
        });
        messages.collect()
    }

    /// Starts a turn in the event log.
    ///
    /// Returns the sequence number before its first event. `is_new_answer` is false when a paused turn resumes: the answer keeps
    /// its id.
    pub(crate) async fn begin_turn(&self, is_new_answer: bool) -> Result<u64, StoreError> {
        let last = match self.unstored {
            Some(_) => Vec::new(),
            None => self.endpoint.store.tail(&self.id, None, 1).await?,
        };
        let last = last.into_iter().next_back();
        Ok(self.event_log().begin_turn(last.map(|entry| entry.id), is_new_answer))
    }

    /// Sets the model that the message chose.
    pub(crate) fn set_chosen_model(&self, model: Option<Arc<dyn Model>>) {
        *self.chosen_model.lock().unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// Resumes a turn with the model that its message chose.
    pub(crate) fn with_chosen_model(&self, ask: TurnRequest) -> TurnRequest {
        let chosen = self.chosen_model.lock().unwrap_or_else(PoisonError::into_inner);
        match &*chosen {
            Some(model) => ask.model(self.endpoint.with_guardrails(Arc::clone(model))),
            None => ask,
        }
    }

    /// The usage of the conversation so far; zero if no interceptor could read it.
    pub(crate) async fn usage(&self) -> Result<ConversationUsage, StoreError> {
        let mut total = self.usage.lock().await;
        if let Some(total) = *total {
            return Ok(total);
        }
        // Only interceptors read it, and summing up a long journal is slow.
        let sum = match self.unstored.is_some() || self.endpoint.interceptors.is_empty() {
            true => return Ok(ConversationUsage::default()),
            false => ConversationUsage::from_entries(&self.endpoint.store.load(&self.id).await?),
        };
        *total = Some(sum);
        Ok(sum)
    }

    /// Adds the usage of a turn.
    pub(crate) async fn add_usage(&self, usage: Usage, cost: Option<f64>) {
        if let Some(total) = &mut *self.usage.lock().await {
            total.add(usage, cost);
            total.turns += 1;
        }
    }

    /// Discards the sum, to be read from the journal again.
    pub(crate) async fn invalidate_usage(&self) {
        *self.usage.lock().await = None;
    }

    pub(crate) fn peer_count(&self) -> usize {
        self.peer_count.load(Ordering::Relaxed)
    }

    /// Adds a client; returns the number of clients.
    pub(crate) fn add_peer(&self) -> usize {
        self.peer_count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Removes a client; returns the number of clients.
    pub(crate) fn remove_peer(&self) -> usize {
        self.peer_count.fetch_sub(1, Ordering::Relaxed) - 1
    }

    /// Discards the queue and the events of a deleted conversation; subscribers receive a new snapshot.
    pub(crate) async fn reset(&self) {
        self.queue().waiting.clear();
        self.invalidate_usage().await;
        let newest = {
            let mut log = self.event_log();
            log.clear();
            log.newest_seq()
        };
        self.newest_seq.send_replace(newest);
    }
}
