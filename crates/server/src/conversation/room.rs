//! A conversation in memory: its event log, the running turn, and the worker that takes the items of its inbox.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use toolwright_chat::{
    Append, Attended, Branch, ChatError, Entry, EntryBody, HeldLease, InboxBody, InboxHandler,
    InboxItem, MessagePart, Model, Owner, PendingApproval, PrincipalRecord, StoreError, TailEnd,
    TurnRequest, TurnStatus, Usage, attend, branches, load_path, load_turn_status,
    load_unfinished_turn, newest_path,
};
use toolwright_core::CancellationToken;

use crate::auth::request_context::RequestContext;
use crate::conversation::event::{
    ConversationEvent, EndpointEvent, PeerId, SequencedEvent, unix_millis_now,
};
use crate::conversation::event_log::{EventLog, PartialStep};
use crate::conversation::room_command::{CommandKind, LiveCommand, RoomCommand};
use crate::conversation::turn::{CommandStatus, refuse_expired};
use crate::conversation::turn_error::TurnError;
use crate::conversation::unstored::UnstoredConversation;
use crate::conversation::usage::ConversationUsage;
use crate::endpoint::path_template::PathParams;
use crate::endpoint::runtime::LEASE_DURATION;
use crate::endpoint::{EndpointRuntime, random_id};
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
    /// The position of the next event; wakes waiting subscribers.
    next_position: watch::Sender<u64>,
    work: Mutex<RoomWork>,
    /// True once the turn that an earlier process left unfinished was resumed, or there was none.
    recovered: tokio::sync::Mutex<bool>,
    peer_count: AtomicUsize,
    /// The model that the last message chose.
    chosen_model: Mutex<Option<Arc<dyn Model>>>,
    usage: tokio::sync::Mutex<Option<ConversationUsage>>,
    /// The history of the request, if the conversation is not stored.
    pub(crate) unstored: Option<Arc<UnstoredConversation>>,
}

/// What this process does for the conversation.
#[derive(Default)]
struct RoomWork {
    /// True while a worker attends to the conversation.
    is_working: bool,
    /// True if an item may have been added since the worker has read the inbox.
    is_woken: bool,
    lease: Option<Arc<HeldLease>>,
    /// The id of the inbox item whose turn runs.
    current_item: Option<String>,
    /// Cancels the running turn.
    running: Option<CancellationToken>,
    /// True if a stop was added since the worker has read the inbox, for a turn that was not running yet.
    stops_next_turn: bool,
    /// What this process knows about inbox items beyond what is stored, by their id.
    live: HashMap<String, LiveCommand>,
    /// Cancelled when a recovered turn has paused, ended or made progress.
    recovery: Option<CancellationToken>,
    /// Cancels [`recovery`](Self::recovery) when it is dropped.
    recovery_guard: Option<DropGuard>,
    /// The request that had the conversation recovered.
    recovery_context: Option<RequestContext>,
}

impl RoomWork {
    /// The worker ends.
    fn end(&mut self) {
        self.is_working = false;
        self.end_command();
        self.lease = None;
        self.recovery_guard = None;
    }

    fn end_command(&mut self) {
        self.running = None;
        self.current_item = None;
    }
}

/// Takes the items of a room's inbox.
struct RoomWorker<'a> {
    room: &'a Arc<Room>,
    /// True once nothing is left to do: from then on, the room's work belongs to the next worker.
    is_finished: AtomicBool,
}

impl RoomWorker<'_> {
    async fn run(&self, command: RoomCommand, item: Option<InboxItem>) -> Option<TurnStatus> {
        {
            let mut work = self.room.work();
            if std::mem::take(&mut work.stops_next_turn) {
                command.cancel.cancel();
            }
            work.running = Some(command.cancel.clone());
            work.current_item = item.as_ref().map(|item| item.id.clone());
        }
        let status = self.room.run_turn(command, item).await;
        self.room.work().end_command();
        status
    }
}

impl InboxHandler for RoomWorker<'_> {
    fn on_acquired(&self, lease: &Arc<HeldLease>) {
        self.room.event_log().begin_term(lease.lease().term);
        self.room.work().lease = Some(Arc::clone(lease));
    }

    fn resume<'a>(&'a self, _lease: &'a Arc<HeldLease>) -> BoxFuture<'a, Option<TurnStatus>> {
        Box::pin(async {
            let room = self.room;
            let entries = load_unfinished_turn(&*room.endpoint.store, &room.id).await.ok()?;
            let record = PrincipalRecord::of_last_turn(entries.as_deref().unwrap_or_default());
            let (context, guard) = {
                let mut work = room.work();
                (work.recovery_context.clone(), work.recovery_guard.take())
            };
            let principal = room.principal_of(record, context.as_ref())?;
            let mut command = RoomCommand::resume(principal);
            command.recovery_guard = guard;
            self.run(command, None).await
        })
    }

    fn handle<'a>(
        &'a self,
        item: InboxItem,
        _lease: &'a Arc<HeldLease>,
    ) -> BoxFuture<'a, Option<TurnStatus>> {
        Box::pin(async move {
            let room = self.room;
            if room.endpoint.server.draining.is_cancelled()
                && matches!(item.body, InboxBody::Message { .. })
            {
                return None;
            }
            let (live, context) = {
                let mut work = room.work();
                (work.live.remove(&item.id), work.recovery_context.clone())
            };
            let live = match live {
                Some(live) => live,
                None if item.body == InboxBody::Stop => {
                    LiveCommand::new(RequestContext::operator(&room.endpoint.server))
                }
                None => {
                    match (room.principal_of(item.principal.as_ref(), context.as_ref()), &item.body)
                    {
                        (Some(principal), _) => LiveCommand::new(principal),
                        (None, InboxBody::Message { parts, .. }) => {
                            let (principal, parts) = (item.principal.clone(), parts.clone());
                            let refused = refuse_expired(room, principal, Some(item), parts).await;
                            return matches!(refused, CommandStatus::Turn(_))
                                .then_some(TurnStatus::Over);
                        }
                        // The turn waits until its subject sends a request.
                        (None, _) => return None,
                    }
                }
            };
            if item.body == InboxBody::Stop
                && load_turn_status(&*room.endpoint.store, &room.id).await.ok()? == TurnStatus::Over
            {
                return Some(TurnStatus::Over);
            }
            let command = RoomCommand::from_inbox_item(&item, live, &room.endpoint);
            self.run(command, Some(item)).await
        })
    }

    fn resumes_paused(&self) -> bool {
        self.room.work().recovery_guard.is_some()
    }

    fn before_read(&self) {
        let mut work = self.room.work();
        work.is_woken = false;
        work.stops_next_turn = false;
    }

    fn may_finish(&self) -> bool {
        let mut work = self.room.work();
        if work.is_woken {
            return false;
        }
        work.end();
        self.is_finished.store(true, Ordering::Relaxed);
        // Before the next worker can begin a term.
        self.room.event_log().end_term();
        true
    }
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
    /// The positions of the queued messages, in the same order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) queued_positions: Vec<u64>,
    /// The branches of the conversation, if it has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) branches: Vec<Branch>,
    pub(crate) peers: usize,
    /// The position of the next event in the log: the snapshot includes what events before it say without a number.
    #[serde(skip)]
    pub(crate) position: u64,
}

/// An accepted command.
pub(crate) struct Admitted {
    /// True if it has to wait for another turn.
    pub(crate) is_waiting: bool,
    /// Its position in the inbox; `None` if the conversation is not stored.
    pub(crate) position: Option<u64>,
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
            next_position: watch::Sender::new(log.next_position()),
            event_log: Mutex::new(log),
            work: Mutex::default(),
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
        self.event_log().begin_term(1);
        self
    }

    pub(crate) fn event_log(&self) -> MutexGuard<'_, EventLog> {
        self.event_log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) -> MutexGuard<'_, RoomWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes an event to all subscribers, or to one peer.
    pub(crate) fn publish(
        &self,
        event: impl Into<ConversationEvent>,
        to: Option<PeerId>,
    ) -> Arc<SequencedEvent> {
        let mut log = self.event_log();
        let sequenced = log.append(event.into(), to);
        let next = log.next_position();
        drop(log);
        self.next_position.send_replace(next);
        sequenced
    }

    pub(crate) fn watch_position(&self) -> watch::Receiver<u64> {
        self.next_position.subscribe()
    }

    pub(crate) fn is_turn_running(&self) -> bool {
        self.event_log().turn().running
    }

    /// Returns true if the room can be dropped from memory: no turn runs, no client is connected, and nothing would be lost.
    pub(crate) fn is_evictable(&self) -> bool {
        let is_working = self.is_working();
        // Pending approvals are in the journal of a stored conversation, and are requested again from there.
        let kept = self.endpoint.is_persistent() || self.event_log().pending().is_empty();
        !is_working && self.peer_count() == 0 && kept
    }

    /// Accepts a command of a client: stored in the inbox when this returns.
    ///
    /// 503 if a message could not be stored or answered, 429 if the inbox is full. Decisions belong to a turn that was accepted
    /// before, so the limits of the server do not apply to them. A conversation that is not stored promises nothing.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        command: RoomCommand,
    ) -> Result<Admitted, ErrorResponse> {
        let is_message = matches!(command.kind, CommandKind::Message(_));
        if is_message {
            self.endpoint.check_admission(self.unstored.is_none()).await?;
        }
        if self.unstored.is_some() {
            let room = Arc::clone(self);
            self.endpoint
                .server
                .running_turns
                .spawn(async move { room.run_unstored(command).await });
            return Ok(Admitted { is_waiting: false, position: None });
        }
        let (item, live) = command.into_inbox_item()?;
        let is_waiting = self.is_working();
        let id = item.id.clone();
        self.work().live.insert(id.clone(), live);
        // Decisions are accepted even if the inbox is full of messages.
        let limit = if is_message { MAX_QUEUED_MESSAGES } else { 2 * MAX_QUEUED_MESSAGES };
        let pushed = self.endpoint.store.push_inbox(&self.id, &item, limit).await;
        if !matches!(pushed, Ok(Some(_))) {
            self.work().live.remove(&id);
        }
        let position = pushed?;
        if position.is_none() {
            let message = "too many messages wait for this conversation already";
            return Err(ErrorResponse::too_many_requests(message));
        }
        self.wake();
        Ok(Admitted { is_waiting, position })
    }

    /// Withdraws a queued message, on behalf of its sender or the owner of the conversation.
    ///
    /// 404 if it is not in the queue any more, 403 for other principals.
    pub(crate) async fn withdraw_message(
        &self,
        position: u64,
        context: &RequestContext,
    ) -> Result<(), ErrorResponse> {
        let not_queued = || ErrorResponse::not_found("no message waits at this position any more");
        let store = &self.endpoint.store;
        let is_message = |item: &InboxItem| matches!(item.body, InboxBody::Message { .. });
        let mut inbox = store.inbox(&self.id).await?.into_iter();
        let item = inbox.find(|item| item.position == position && is_message(item));
        let item = item.ok_or_else(not_queued)?;
        let (owner, _) = Owner::split_stored_name(&self.id);
        let principal = context.owner();
        if principal != owner && principal != owner_of(item.principal.as_ref()) {
            let message = "only the principal that sent a message may withdraw it";
            return Err(ErrorResponse::new(StatusCode::FORBIDDEN, "forbidden", message));
        }
        // A turn that begins meanwhile, here or in another process, cannot append the message any more.
        let has_begun = self.work().current_item.as_ref() == Some(&item.id);
        if has_begun || !store.remove_inbox_item(&self.id, position).await? {
            return Err(not_queued());
        }
        self.work().live.remove(&item.id);
        let peer = item.peer.map(PeerId::from);
        let to = self.endpoint.event_recipient(peer.as_ref());
        self.publish(EndpointEvent::Withdrawn { position }, to);
        Ok(())
    }

    /// Has the inbox read and an interrupted turn resumed, by a new worker if there is none.
    pub(crate) fn wake(self: &Arc<Self>) {
        let mut work = self.work();
        work.is_woken = true;
        if std::mem::replace(&mut work.is_working, true) {
            return;
        }
        drop(work);
        let room = Arc::clone(self);
        self.endpoint.server.running_turns.spawn(async move {
            tokio::select! {
                () = room.run_worker() => return,
                // Unfinished turns and the inbox are attended to by another process.
                () = room.endpoint.server.shutdown.cancelled() => {}
            }
            let lease = room.work().lease.take();
            if let Some(lease) = lease.and_then(Arc::into_inner) {
                lease.release().await;
            }
        });
    }

    /// Attends to the conversation once: resumes its interrupted turn, and takes the items of its inbox.
    async fn run_worker(self: &Arc<Self>) {
        let endpoint = &self.endpoint;
        let worker = RoomWorker { room: self, is_finished: AtomicBool::new(false) };
        let attended =
            attend(&endpoint.store, &self.id, &endpoint.server.node, LEASE_DURATION, &worker).await;
        // The lease was released after that, while the next worker may have begun.
        if worker.is_finished.into_inner() {
            return;
        }
        let (live, is_woken) = {
            let mut work = self.work();
            work.end();
            // Before the next worker can begin a term.
            self.event_log().end_term();
            match attended {
                Ok(Attended::Done) => (HashMap::new(), work.is_woken),
                // The sweeper tries again later.
                _ => (std::mem::take(&mut work.live), false),
            }
        };
        if is_woken {
            self.wake();
        }
        if let Err(error) = &attended {
            tracing::warn!(conversation = self.id, %error, "a conversation cannot be attended to");
            if self.event_log().turn().running {
                let error = TurnError::from(StoreError::new(error.to_string()));
                self.publish(
                    EndpointEvent::Error { kind: error.kind, message: error.message },
                    None,
                );
            }
        }
        let reason = StoreError::leased_elsewhere(&self.name).to_string();
        for started in live.into_values().filter_map(|live| live.started) {
            // The items stay in the inbox; the client gets a response now.
            let _ = started.send(Err(ChatError::Busy { reason: reason.clone() }));
        }
    }

    /// Runs the one command of a conversation that is not stored.
    async fn run_unstored(self: Arc<Self>, command: RoomCommand) {
        self.work().running = Some(command.cancel.clone());
        tokio::select! {
            _ = self.run_turn(command, None) => {}
            () = self.endpoint.server.shutdown.cancelled() => {}
        }
        self.work().end();
    }

    /// Runs a command; returns the status of the turn afterwards, `None` if the store failed.
    async fn run_turn(
        self: &Arc<Self>,
        command: RoomCommand,
        item: Option<InboxItem>,
    ) -> Option<TurnStatus> {
        let to = self.endpoint.event_recipient(command.peer.as_ref());
        let turn = crate::conversation::turn::run_command(self, command, item);
        let status = AssertUnwindSafe(turn).catch_unwind().await;
        let status = status.unwrap_or_else(|_| {
            tracing::error!(conversation = self.id, "a handler of the endpoint panicked");
            let kind = "internal".to_owned();
            let message = "the endpoint failed; its log has the reason".to_owned();
            self.publish(EndpointEvent::Error { kind, message }, to);
            CommandStatus::Unknown
        });
        self.event_log().end_turn();
        let status = match status {
            CommandStatus::Turn(status) => return Some(status),
            CommandStatus::StoreFailed => return None,
            CommandStatus::Unknown if self.unstored.is_some() => return None,
            // An interrupted turn must not wait behind decisions that nothing takes.
            CommandStatus::Rejected => {
                return load_turn_status(&*self.endpoint.store, &self.id).await.ok();
            }
            CommandStatus::Unknown => load_turn_status(&*self.endpoint.store, &self.id).await,
        };
        // A turn that failed and is not over is resumed later, not at once.
        status.ok().filter(|status| *status != TurnStatus::Running)
    }

    /// Stops the running or paused turn, or one that an earlier process left unfinished; returns false if there was none.
    ///
    /// The stop is stored when this returns: a process that ends before the turn does is no way around it.
    pub(crate) async fn stop_turn(self: &Arc<Self>) -> Result<bool, StoreError> {
        let running = self.work().running.clone();
        let store = &self.endpoint.store;
        let has_open_turn = running.is_some()
            || !self.event_log().pending().is_empty()
            || load_turn_status(&**store, &self.id).await? != TurnStatus::Over;
        if !has_open_turn {
            return Ok(false);
        }
        if self.unstored.is_none() {
            let item = InboxItem::new(random_id()?, unix_millis_now(), InboxBody::Stop);
            store.push_inbox(&self.id, &item, usize::MAX).await?;
        }
        {
            let mut work = self.work();
            // A worker that is about to resume the turn has read the inbox already.
            match running.or_else(|| work.running.clone()) {
                Some(running) => running.cancel(),
                None => work.stops_next_turn = true,
            }
        }
        self.wake();
        Ok(true)
    }

    /// Attends to what an earlier process left: an interrupted or paused turn, and items of the inbox.
    ///
    /// A turn resumes on behalf of the principal that began it. If its credential has expired, the turn waits until that
    /// subject sends a request: `context` may be another principal.
    pub(crate) async fn recover_unfinished_turn(
        self: &Arc<Self>,
        context: &RequestContext,
    ) -> Result<(), StoreError> {
        let mut recovered = self.recovered.lock().await;
        if !self.event_log().knows_term() {
            let term = self.endpoint.store.term(&self.id).await?;
            self.event_log().set_last_term(term);
        }
        if *recovered || self.has_open_turn() {
            return Ok(());
        }
        let entries = load_unfinished_turn(&*self.endpoint.store, &self.id).await?;
        let has_items = !self.endpoint.store.inbox(&self.id).await?.is_empty();
        if entries.is_none() && !has_items {
            *recovered = true;
            return Ok(());
        }
        let principals: Vec<Option<PrincipalRecord>> = match &entries {
            Some(entries) => vec![PrincipalRecord::of_last_turn(entries).cloned()],
            None => Vec::new(),
        };
        let can_resume = principals
            .iter()
            .all(|record| self.principal_of(record.as_ref(), Some(context)).is_some());
        if !can_resume {
            return Ok(());
        }
        *recovered = true;
        let settled = CancellationToken::new();
        {
            let mut work = self.work();
            work.recovery = Some(settled.clone());
            work.recovery_guard = Some(settled.drop_guard());
            work.recovery_context = Some(context.clone());
        }
        self.wake();
        Ok(())
    }

    /// The principal that a journal or an inbox records, with a credential that is valid now: its own, or that of the request
    /// in `context`, if it is of the same subject.
    fn principal_of(
        &self,
        record: Option<&PrincipalRecord>,
        context: Option<&RequestContext>,
    ) -> Option<RequestContext> {
        let owner = owner_of(record);
        let restored = RequestContext::from_record(&self.endpoint.server, record);
        restored.or_else(|| context.filter(|context| context.owner() == owner).cloned())
    }

    /// Returns true if this process runs a turn of the conversation, or has a paused one.
    fn has_open_turn(&self) -> bool {
        self.work().running.is_some() || !self.event_log().pending().is_empty()
    }

    fn is_working(&self) -> bool {
        self.work().is_working
    }

    /// The lease of the conversation, while a worker of this process holds it.
    pub(crate) fn held_lease(&self) -> Option<Arc<HeldLease>> {
        self.work().lease.clone()
    }

    /// Waits until a recovered turn has requested its approvals again, has ended or made progress; at most
    /// [`RECOVERY_TIMEOUT`].
    pub(crate) async fn wait_until_recovered(&self) {
        let settled = self.work().recovery.clone();
        if let Some(settled) = settled {
            // Another process may hold the lease: then the turn is shown as running.
            let _ = timeout(RECOVERY_TIMEOUT, settled.cancelled()).await;
        }
    }

    /// Loads the path to the newest entry, or to the one of the id `at`; empty if there is none.
    pub(crate) async fn load_path(&self, at: Option<&str>) -> Result<Vec<Entry>, StoreError> {
        let entries = load_path(&*self.endpoint.store, &self.id, at).await?;
        Ok(entries.into_iter().map(visible_entry).collect())
    }

    /// A consistent snapshot of the journal and the event log.
    pub(crate) async fn snapshot(&self) -> Result<ConversationSnapshot, StoreError> {
        self.snapshot_at(None).await
    }

    /// A snapshot whose entries are the path to the one of the id `at`, empty if there is none. It includes the running or
    /// paused turn only if that is the newest entry.
    pub(crate) async fn snapshot_at(
        &self,
        at: Option<&str>,
    ) -> Result<ConversationSnapshot, StoreError> {
        for _ in 0..SNAPSHOT_ATTEMPTS {
            let turn = self.event_log().turn().clone();
            let entries = self.endpoint.store.load(&self.id).await?;
            // Read before the log: if a queued message begins in between, its event is in the log or the snapshot is
            // retried.
            let (queued_positions, queued) = self.queued_messages().await?;
            let log = self.event_log();
            // A turn that began meanwhile may have written to the journal already.
            if log.turn().turn_number != turn.turn_number {
                continue;
            }
            let newest = entries.last().map(|entry| entry.id.as_str());
            let shows_turn = at.is_none() || at == newest;
            let running = turn.running && shows_turn;
            let mut snapshot = ConversationSnapshot {
                id: self.name.clone(),
                entries: Vec::new(),
                seq: log.newest_seq(),
                running,
                pending: Vec::new(),
                partial: None,
                queued,
                queued_positions,
                branches: branches(&entries),
                peers: self.peer_count(),
                position: log.next_position(),
            };
            let mut end = at.or(newest);
            if at.is_none() && running && log.retains_after(turn.seq_before) {
                // The events of the turn follow, which include the pending approvals.
                end = turn.entry_before.as_deref();
                snapshot.seq = turn.seq_before;
            } else if shows_turn {
                snapshot.pending = log.pending().to_vec();
                snapshot.partial = running.then(|| log.partial().clone());
            }
            let end = entries.iter().rposition(|entry| end == Some(&*entry.id));
            let entries = entries.get(..end.map_or(0, |at| at + 1)).unwrap_or_default();
            let path = newest_path(entries).into_iter().cloned();
            snapshot.entries = path.map(visible_entry).collect();
            return Ok(snapshot);
        }
        Err(StoreError::new("the conversation changes too fast to be shown; try again"))
    }

    /// The positions and the parts of the queued messages, except those whose answers are for one peer only.
    async fn queued_messages(&self) -> Result<(Vec<u64>, Vec<Vec<MessagePart>>), StoreError> {
        if self.unstored.is_some() {
            return Ok(Default::default());
        }
        let inbox = self.endpoint.store.inbox(&self.id).await?;
        let current = self.work().current_item.clone();
        let messages = inbox.into_iter().filter_map(|item| {
            let peer = item.peer.map(PeerId::from);
            let is_shown = current.as_ref() != Some(&item.id)
                && self.endpoint.event_recipient(peer.as_ref()).is_none();
            match item.body {
                InboxBody::Message { parts, .. } if is_shown => Some((item.position, parts)),
                _ => None,
            }
        });
        Ok(messages.unzip())
    }

    /// Starts a turn in the event log.
    ///
    /// Returns the sequence number before its first event. `is_new_answer` is false when a paused turn resumes: the answer keeps
    /// its id. `after` is the id of the entry after which the message continues, if it names one.
    pub(crate) async fn begin_turn(
        &self,
        is_new_answer: bool,
        after: Option<&str>,
    ) -> Result<u64, StoreError> {
        let entry_before = match (after, &self.unstored) {
            (Some(after), _) => Some(after.to_owned()),
            (None, Some(_)) => None,
            (None, None) => {
                let last = self.endpoint.store.tail(&self.id, TailEnd::Newest, 1).await?;
                last.into_iter().next_back().map(|entry| entry.id)
            }
        };
        Ok(self.event_log().begin_turn(entry_before, is_new_answer))
    }

    /// Appends entries that no [`Chat`](toolwright_chat::Chat) has written, and removes the item that they are taken from;
    /// messages record the principal that sent them.
    pub(crate) async fn append_entries(
        &self,
        principal: Option<PrincipalRecord>,
        item: Option<InboxItem>,
        bodies: Vec<EntryBody>,
    ) -> Result<(), StoreError> {
        let lease = self.held_lease();
        let lease = lease.ok_or_else(|| StoreError::leased_elsewhere(&self.name))?;
        let taken: Vec<u64> = item.iter().map(|item| item.position).collect();
        let mut first_id = item.as_ref().map(|item| item.id.clone());
        let mut after = match item {
            Some(InboxItem { body: InboxBody::Message { after, .. }, .. }) => after,
            _ => None,
        };
        let mut entries = Vec::new();
        for body in bodies {
            let mut entry = Entry::new(random_id()?, unix_millis_now(), body);
            if entry.is_message() {
                entry.principal = principal.clone();
                entry.id = first_id.take().unwrap_or(entry.id);
                entry.after = after.take();
            }
            entries.push(entry);
        }
        let append = Append::new(&entries).taking(&taken);
        self.endpoint.store.append(lease.lease(), append).await
    }

    /// Deletes the conversation after its turn if the endpoint does not store conversations, and no message waits.
    pub(crate) async fn delete_if_ephemeral(&self) {
        let Some(lease) = self.held_lease().filter(|_| !self.endpoint.is_persistent()) else {
            return;
        };
        let current = self.work().current_item.clone();
        let store = &self.endpoint.store;
        let deleted = async {
            let inbox = store.inbox(&self.id).await?;
            match inbox.iter().all(|item| current.as_ref() == Some(&item.id)) {
                true => store.delete(lease.lease()).await.map(drop),
                false => Ok(()),
            }
        };
        if let Err(error) = deleted.await {
            tracing::warn!(conversation = self.id, "it could not be forgotten: {error}");
        }
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

    /// Discards the commands and the events of a deleted conversation; subscribers receive a new snapshot.
    pub(crate) async fn reset(&self) {
        self.work().live.clear();
        self.invalidate_usage().await;
        let next = {
            let mut log = self.event_log();
            log.clear();
            log.next_position()
        };
        self.next_position.send_replace(next);
    }
}

/// The owner of what a principal does.
fn owner_of(record: Option<&PrincipalRecord>) -> Owner {
    record.map_or(Owner::Operator, |record| Owner::Subject(record.subject.clone()))
}

/// The entry without its principal and its signature: scopes are visible to their principal only.
fn visible_entry(entry: Entry) -> Entry {
    entry.with_principal(None).without_mac()
}
