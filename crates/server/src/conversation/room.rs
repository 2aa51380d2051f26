//! One conversation as long as somebody takes part in it: its newest events, the turn that runs, those that wait.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::timeout;
use toolwright_chat::{
    Entry, Model, Owner, PendingApproval, PrincipalRecord, StoreError, TurnRequest, Usage,
};
use toolwright_core::{CancellationToken, Content, Role};

use crate::auth::request_context::RequestContext;
use crate::conversation::event::{ConversationEvent, EndpointEvent, PeerId, SequencedEvent};
use crate::conversation::event_log::{EventLog, LogRead, PartialStep};
use crate::conversation::room_command::{CommandKind, RoomCommand};
use crate::conversation::usage::ConversationUsage;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::PathParams;
use crate::http::error_response::ErrorResponse;

/// Prompts that wait for their turn, at most; more would only grow old.
const MAX_QUEUED_MESSAGES: usize = 16;

/// How long a look at a conversation waits for its unfinished turn to show that it waits for a decision.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a snapshot is tried when turns begin meanwhile.
const SNAPSHOT_ATTEMPTS: usize = 8;

/// One conversation under way.
pub(crate) struct Room {
    /// The conversation's name in the store, where the owner is part of it.
    pub(crate) id: String,
    /// The name that clients know it by.
    pub(crate) name: String,
    pub(crate) endpoint: Arc<EndpointRuntime>,
    /// What the path's parameters are.
    pub(crate) params: PathParams,
    event_log: Mutex<EventLog>,
    /// The number of the newest event: whoever waits for the next one is woken by it.
    newest_seq: watch::Sender<u64>,
    queue: Mutex<TurnQueue>,
    /// Whether what an earlier process left unfinished was resumed.
    recovered: tokio::sync::Mutex<bool>,
    peer_count: Mutex<usize>,
    /// Who answered last, where a prompt chose.
    chosen_model: Mutex<Option<Arc<dyn Model>>>,
    usage: tokio::sync::Mutex<Option<ConversationUsage>>,
}

#[derive(Default)]
struct TurnQueue {
    waiting: VecDeque<RoomCommand>,
    /// Ends the turn that runs.
    running: Option<CancellationToken>,
    /// Cancelled when the turn that an earlier process left unfinished shows where it stands.
    recovery: Option<CancellationToken>,
}

/// A conversation as it stands: what is kept of it, and from where on events tell the rest.
#[derive(Serialize)]
pub(crate) struct ConversationSnapshot {
    pub(crate) id: String,
    /// What the journal has, up to the turn that runs.
    pub(crate) entries: Vec<Entry>,
    /// Events after this number are not in the entries.
    pub(crate) seq: u64,
    pub(crate) running: bool,
    pub(crate) pending: Vec<PendingApproval>,
    /// What was said of a step that is not over, where its events are not to be had any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial: Option<PartialStep>,
    /// Messages that wait for their turn, in order, each as its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) queued: Vec<Vec<MessagePart>>,
    pub(crate) peers: usize,
}

/// A part of a message that waits, as the event that its turn begins with has it.
#[derive(Serialize)]
pub(crate) struct MessagePart {
    role: Role,
    content: Vec<Content>,
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
            peer_count: Mutex::default(),
            chosen_model: Mutex::default(),
            usage: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn event_log(&self) -> MutexGuard<'_, EventLog> {
        self.event_log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, TurnQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells an event to all who read, or to one of them.
    pub(crate) fn publish(
        &self,
        event: impl Into<ConversationEvent>,
        to: Option<PeerId>,
    ) -> Arc<SequencedEvent> {
        let sequenced = self.event_log().append(event.into(), to);
        self.newest_seq.send_replace(sequenced.seq);
        sequenced
    }

    pub(crate) fn events_after(&self, after: u64, max: usize) -> LogRead {
        self.event_log().events_after(after, max)
    }

    pub(crate) fn watch_newest_seq(&self) -> watch::Receiver<u64> {
        self.newest_seq.subscribe()
    }

    /// Whether a turn runs.
    pub(crate) fn is_turn_running(&self) -> bool {
        self.event_log().turn().running
    }

    /// Whether nobody would miss it.
    pub(crate) fn is_evictable(&self) -> bool {
        let is_running = self.queue().running.is_some();
        // What waits is in the journal, where there is one that lasts, and is asked about again.
        let kept = self.endpoint.is_persistent() || self.event_log().pending().is_empty();
        !is_running && self.peer_count() == 0 && kept
    }

    /// Accepts what a client asks for: 503 if a message could not be stored or answered, 429 if too much waits in this
    /// conversation already. Returns true if it has to wait for another turn.
    ///
    /// What goes on with a turn that was accepted before is not refused for the server's sake.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        command: RoomCommand,
    ) -> Result<bool, ErrorResponse> {
        if matches!(command.kind, CommandKind::Message(_)) {
            self.endpoint.check_admission().await?;
        }
        let busy = |_| {
            ErrorResponse::too_many_requests("too many prompts wait for this conversation already")
        };
        self.enqueue(command).map_err(busy)
    }

    /// Takes on a job; tells whether it has to wait for another.
    pub(crate) fn enqueue(self: &Arc<Self>, command: RoomCommand) -> Result<bool, QueueFull> {
        let mut queue = self.queue();
        let is_message = matches!(command.kind, CommandKind::Message(_));
        // However much waits to be said, what waits to be decided can be.
        let max = if is_message {
            MAX_QUEUED_MESSAGES
        } else {
            2 * MAX_QUEUED_MESSAGES
        };
        if queue.waiting.len() >= max {
            return Err(QueueFull);
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
        self.endpoint
            .server
            .running_turns
            .spawn(async move { room.run_queue().await });
        Ok(false)
    }

    /// Does all that is to be done, one after the other.
    async fn run_queue(self: Arc<Self>) {
        let mut awaits_decision = false;
        loop {
            let next = {
                let mut queue = self.queue();
                let next = queue.waiting.pop_front_if(|command| {
                    // Who said something before the question was asked has not answered it.
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
                // What has not ended by now is left as it is: the journal knows where to go on.
                () = self.endpoint.server.shutdown.cancelled() => return,
            };
            if done.is_err() {
                tracing::error!(conversation = self.id, "a handler of the endpoint panicked");
                let kind = "internal".to_owned();
                let message = "the endpoint failed; its log says why".to_owned();
                self.publish(EndpointEvent::Error { kind, message }, to);
            }
            let mut log = self.event_log();
            log.end_turn();
            awaits_decision = !log.pending().is_empty();
        }
    }

    /// Ends the turn that runs or waits, or that an earlier process left unfinished; tells whether there was one.
    pub(crate) async fn stop_turn(self: &Arc<Self>) -> Result<bool, StoreError> {
        let mut recovered = self.recovered.lock().await;
        let running = self.queue().running.clone();
        if let Some(running) = running {
            running.cancel();
            return Ok(true);
        }
        let has_open_turn = self.has_open_turn()
            || (!*recovered
                && self
                    .endpoint
                    .load_unfinished_turn(&self.id)
                    .await?
                    .is_some());
        if !has_open_turn {
            return Ok(false);
        }
        *recovered = true;
        // A turn that waits ends as one that runs: the journal is told, and so is everybody who reads.
        let command = RoomCommand::resume(RequestContext::operator(&self.endpoint.server));
        command.cancel.cancel();
        Ok(self.enqueue(command).is_ok())
    }

    /// Resumes the turn that an earlier process left unfinished, in the name of the principal that began it.
    ///
    /// If its credential has expired, the turn waits until that subject comes back: `guest` may be somebody else.
    pub(crate) async fn recover_unfinished_turn(
        self: &Arc<Self>,
        context: &RequestContext,
    ) -> Result<(), StoreError> {
        let mut recovered = self.recovered.lock().await;
        if *recovered {
            return Ok(());
        }
        if self.has_open_turn() {
            return Ok(());
        }
        let Some(entries) = self.endpoint.load_unfinished_turn(&self.id).await? else {
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
        // Too busy to go on is busy with going on.
        let _ = self.enqueue(command);
        Ok(())
    }

    /// Returns true if this process runs a turn of the conversation, or has one that waits for a decision.
    fn has_open_turn(&self) -> bool {
        self.queue().running.is_some() || !self.event_log().pending().is_empty()
    }

    /// Waits until a turn that was resumed has asked again about the calls that wait for a decision, is over, or goes on.
    pub(crate) async fn wait_until_recovered(&self) {
        let settled = self.queue().recovery.clone();
        if let Some(settled) = settled {
            // Another process may hold the conversation: then it is shown as running.
            let _ = timeout(RECOVERY_TIMEOUT, settled.cancelled()).await;
        }
    }

    /// The conversation as it stands.
    pub(crate) async fn snapshot(&self) -> Result<ConversationSnapshot, StoreError> {
        for _ in 0..SNAPSHOT_ATTEMPTS {
            let turn = self.event_log().turn().clone();
            let mut entries = self.endpoint.store.load(&self.id).await?;
            // Before the log: a message that begins in between is told by the log, or tried again.
            let queued = self.queued_messages();
            let log = self.event_log();
            // A turn that began meanwhile may have told the journal something already.
            if log.turn().turn_number != turn.turn_number {
                continue;
            }
            // The scopes of a principal are nobody else's business.
            entries.iter_mut().for_each(|entry| entry.principal = None);
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
                // What waits is told by the events.
                snapshot.pending.clear();
            } else if turn.running {
                snapshot.partial = Some(log.partial().clone());
            }
            snapshot.entries = entries;
            return Ok(snapshot);
        }
        Err(StoreError::new(
            "the conversation goes on too fast to be shown; try again",
        ))
    }

    /// The messages that wait for their turn, except those whose answers are for one participant only.
    fn queued_messages(&self) -> Vec<Vec<MessagePart>> {
        let queue = self.queue();
        let messages = queue
            .waiting
            .iter()
            .filter_map(|command| match &command.kind {
                CommandKind::Message(message)
                    if self
                        .endpoint
                        .event_recipient(command.peer.as_ref())
                        .is_none() =>
                {
                    Some(message)
                }
                _ => None,
            });
        let parts = messages.map(|message| {
            let parts = message.parts.iter().cloned();
            parts
                .map(|(role, content)| MessagePart { role, content })
                .collect()
        });
        parts.collect()
    }

    /// A turn begins: what comes now is not in the journal yet.
    ///
    /// Returns the number before its first event. What goes on is still the answer that it was.
    pub(crate) async fn begin_turn(&self, anew: bool) -> Result<u64, StoreError> {
        let last = self.endpoint.store.tail(&self.id, None, 1).await?;
        let last = last.into_iter().next_back();
        Ok(self
            .event_log()
            .begin_turn(last.map(|entry| entry.id), anew))
    }

    /// Remembers who was chosen to answer.
    pub(crate) fn set_chosen_model(&self, model: Option<Arc<dyn Model>>) {
        *self
            .chosen_model
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// Has a turn go on with the model that it began with.
    pub(crate) fn with_chosen_model(&self, ask: TurnRequest) -> TurnRequest {
        let chosen = self
            .chosen_model
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*chosen {
            Some(model) => ask.model(self.endpoint.with_guardrails(Arc::clone(model))),
            None => ask,
        }
    }

    /// What the conversation has taken so far.
    pub(crate) async fn usage(&self) -> Result<ConversationUsage, StoreError> {
        let mut total = self.usage.lock().await;
        if let Some(total) = *total {
            return Ok(total);
        }
        // Nobody asks without interceptors, and a long conversation takes long to read.
        let sum = match self.endpoint.interceptors.is_empty() {
            true => return Ok(ConversationUsage::default()),
            false => ConversationUsage::from_entries(&self.endpoint.store.load(&self.id).await?),
        };
        *total = Some(sum);
        Ok(sum)
    }

    /// Adds what a turn took.
    pub(crate) async fn add_usage(&self, usage: Usage, cost: Option<f64>) {
        if let Some(total) = &mut *self.usage.lock().await {
            total.add(usage, cost);
            total.turns += 1;
        }
    }

    /// What was taken is to be read from the journal again.
    pub(crate) async fn invalidate_usage(&self) {
        *self.usage.lock().await = None;
    }

    pub(crate) fn peer_count(&self) -> usize {
        *self
            .peer_count
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// One more takes part; returns how many do now.
    pub(crate) fn add_peer(&self) -> usize {
        let mut peers = self
            .peer_count
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *peers += 1;
        *peers
    }

    /// One leaves.
    pub(crate) fn remove_peer(&self) -> usize {
        let mut peers = self
            .peer_count
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *peers = peers.saturating_sub(1);
        *peers
    }

    /// Whatever was told is gone: whoever reads begins anew.
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

/// Too many wait already.
#[derive(Debug)]
pub(crate) struct QueueFull;
