//! The worker of a room: takes the items of its inbox, runs their turns, and stops them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_util::sync::DropGuard;
use toolwright_chat::{
    ACQUIRE_TIMEOUT, Attended, ChatError, Entry, HeldLease, InboxBody, InboxHandler, InboxItem,
    MessagePart, PrincipalRecord, StoreError, TurnStatus, attend, load_turn_status,
    load_unfinished_turn, open_turn_messages,
};
use toolwright_conversation::ConversationError;
use toolwright_conversation::event_log::NO_SEQ;
use toolwright_conversation::node_message::NodeMessage;
use toolwright_conversation::shared_log::Publisher;
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::CancellationToken;

use crate::auth::request_context::RequestContext;
use crate::conversation::room::Room;
use crate::conversation::room_command::{LiveCommand, RoomCommand, StartedSender};
use crate::conversation::turn::{CommandStatus, refuse_message};
use crate::conversation::turn_error::TurnError;
use crate::conversation::turn_start::TurnStart;
use crate::endpoint::random_id;
use crate::quota::account::QuotaAccount;
use crate::quota::admission::TurnReservation;
use crate::quota::turn_queue::TurnPermit;

/// The maximum interval at which the inbox is read for stops while a turn runs, without a bus that reports them.
const STOP_INTERVAL: Duration = Duration::from_secs(2);

/// What this process does for the conversation.
#[derive(Default)]
pub(super) struct RoomWork {
    pub(super) worker: WorkerState,
    /// What the worker has once it has the lease.
    pub(super) held: Option<Held>,
    pub(super) turn: Option<RunningTurn>,
    pub(super) recovery: Option<Recovery>,
    /// What this process knows about inbox items beyond what is stored, by their id.
    pub(super) live: HashMap<String, LiveCommand>,
    /// True if a stop was added since the worker has read the inbox, for a turn that was not running yet.
    pub(super) stops_next_turn: bool,
    /// True if another node that holds the lease has to read the inbox.
    wakes_holder: bool,
    /// True while clients of this node wait for another one that holds the lease.
    is_watching_holder: bool,
}

/// Whether a worker attends to the conversation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum WorkerState {
    #[default]
    Absent,
    Attending,
    /// An item may have been added since the worker has read the inbox: it reads it again.
    Woken,
}

/// The lease of the conversation, and the right to publish what happens under it.
pub(super) struct Held {
    /// `None` if the conversation is not stored.
    pub(super) lease: Option<Arc<HeldLease>>,
    pub(super) publisher: Publisher,
}

/// The turn that runs.
pub(super) struct RunningTurn {
    pub(super) cancel: CancellationToken,
    /// The id of its inbox item; `None` if it resumes, or the conversation is not stored.
    pub(super) item: Option<String>,
    /// What it holds.
    pub(super) reservation: Option<TurnReservation>,
}

/// A turn that an earlier process left, and this one resumes.
pub(super) struct Recovery {
    /// Cancelled when the turn has paused, ended or made progress.
    pub(super) settled: CancellationToken,
    /// Cancels [`settled`](Self::settled) when it is dropped; taken by the turn.
    pub(super) guard: Option<DropGuard>,
    /// The request that had the conversation recovered.
    pub(super) context: RequestContext,
}

impl RoomWork {
    /// The worker ends.
    fn end(&mut self) {
        self.worker = WorkerState::Absent;
        self.turn = None;
        self.held = None;
        if let Some(recovery) = &mut self.recovery {
            recovery.guard = None;
        }
    }

    /// Returns true if the turn of this inbox item runs.
    pub(super) fn is_running(&self, item: &str) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.item.as_deref() == Some(item))
    }
}

/// Takes the items of a room's inbox.
struct RoomWorker<'a> {
    room: &'a Arc<Room>,
    /// True once nothing is left to do: from then on, the room's work belongs to the next worker.
    is_finished: AtomicBool,
    /// True if a turn was interrupted: its events may not be those that the journal has.
    is_interrupted: AtomicBool,
}

impl RoomWorker<'_> {
    /// Runs a command, which is boxed: every future that has it as an argument has room for it twice.
    async fn run(&self, command: Box<RoomCommand>, item: Option<InboxItem>) -> Option<TurnStatus> {
        {
            let mut work = self.room.work();
            if std::mem::take(&mut work.stops_next_turn) {
                command.cancel.cancel();
            }
            let (cancel, item) =
                (command.cancel.clone(), item.as_ref().map(|item| item.id.clone()));
            work.turn = Some(RunningTurn { cancel, item, reservation: None });
        }
        let (cancel, current) = (command.cancel.clone(), item.as_ref().map(|item| item.id.clone()));
        let status = tokio::select! {
            biased;
            status = self.room.run_turn(command, item) => status,
            never = self.cancel_on_stored_stop(&cancel, current.as_deref()) => match never {},
        };
        self.room.work().turn = None;
        self.is_interrupted.store(status.is_none(), Ordering::Relaxed);
        status
    }

    /// Ends the turn of a message that is not answered.
    async fn refuse(
        &self,
        principal: Option<PrincipalRecord>,
        item: InboxItem,
        parts: Vec<MessagePart>,
        reason: TurnError,
    ) -> Option<TurnStatus> {
        let refused = refuse_message(self.room, principal, Some(item), parts, reason).await;
        let is_refused = matches!(refused, CommandStatus::Turn(_));
        // The journal may have what no subscriber has received.
        self.is_interrupted.store(!is_refused, Ordering::Relaxed);
        is_refused.then_some(TurnStatus::Over)
    }

    /// Cancels a turn when its inbox has a stop, which another process may have added: a message on the bus may be lost, and
    /// there may be no bus, but the item is stored.
    async fn cancel_on_stored_stop(
        &self,
        cancel: &CancellationToken,
        current: Option<&str>,
    ) -> Infallible {
        let endpoint = &self.room.endpoint;
        // As often as the lease is renewed.
        let mut interval = endpoint.server.limits.lease_duration / 3;
        if self.room.link.is_none() {
            // Other processes cannot reach the inbox.
            if !endpoint.is_persistent() {
                return std::future::pending().await;
            }
            interval = interval.min(STOP_INTERVAL);
        }
        loop {
            let _ = timeout(interval, self.room.inbox_changed.notified()).await;
            let inbox = endpoint.store.inbox(&self.room.id).await.unwrap_or_default();
            let is_stop = |item: &&InboxItem| {
                item.body == InboxBody::Stop && Some(item.id.as_str()) != current
            };
            for stop in inbox.iter().filter(is_stop) {
                let of_message = stop.is_stop_of(current.into_iter());
                if of_message || self.is_stop_of_open_turn(stop).await.unwrap_or_default() {
                    cancel.cancel();
                }
            }
        }
    }

    /// Returns true if a stop is one of the turn that the journal has left open, and false if there is none.
    async fn is_stop_of_open_turn(&self, stop: &InboxItem) -> Result<bool, StoreError> {
        let room = self.room;
        let entries = load_unfinished_turn(&*room.endpoint.store, &room.id).await?;
        Ok(entries.is_some_and(|entries| stop.is_stop_of(open_turn_messages(&entries))))
    }
}

impl InboxHandler for RoomWorker<'_> {
    fn on_acquired(&self, lease: &Arc<HeldLease>) {
        let term = lease.lease().term;
        // Another node has had the lease since. The bus may not have reported it.
        if self.room.last_own_term.swap(term, Ordering::Relaxed) + 1 != term {
            self.room.usage.invalidate();
        }
        let publisher = self.room.log.begin_term(term);
        self.room.work().held = Some(Held { lease: Some(Arc::clone(lease)), publisher });
    }

    fn resume<'a>(&'a self, _lease: &'a Arc<HeldLease>) -> BoxFuture<'a, Option<TurnStatus>> {
        Box::pin(async {
            let room = self.room;
            let entries = load_unfinished_turn(&*room.endpoint.store, &room.id).await.ok()?;
            let entries = entries.unwrap_or_default();
            let record = PrincipalRecord::of_last_turn(&entries);
            let (context, guard) = {
                let mut work = room.work();
                let recovery = work.recovery.as_mut();
                recovery.map(|it| (it.context.clone(), it.guard.take())).unzip()
            };
            let principal = room.principal_of(record, context.as_ref())?;
            let principal =
                principal.with_stored_client_tools(client_tools_of(&entries), &room.endpoint);
            room.restore_chosen_model(&entries);
            room.endpoint.server.metrics.resumed_turns.inc();
            let mut command = Box::new(RoomCommand::resume(principal));
            command.recovery_guard = guard.flatten();
            match room.prepare_turn(&mut command).await {
                TurnStart::Ready => self.run(command, None).await,
                TurnStart::Refused(_) | TurnStart::NotNow => None,
            }
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
            if matches!(item.body, InboxBody::Message { .. }) && room.event_log().needs_new_term() {
                // The worker that is woken acquires the lease again, and has new numbers for the next turn.
                room.work().worker = WorkerState::Woken;
                return None;
            }
            let (live, context) = {
                let mut work = room.work();
                let live = work.live.remove(&item.id);
                // Mostly the only one: a turn does not keep the room for it.
                work.live.shrink_to_fit();
                (live, work.recovery.as_ref().map(|recovery| recovery.context.clone()))
            };
            let mut live = match live {
                Some(live) => live,
                None if item.body == InboxBody::Stop => {
                    LiveCommand::new(RequestContext::operator(&room.endpoint.auth))
                }
                None => {
                    match (room.principal_of(item.principal.as_ref(), context.as_ref()), &item.body)
                    {
                        (Some(principal), _) => LiveCommand::new(
                            principal.with_stored_client_tools(item.client_tools(), &room.endpoint),
                        ),
                        (None, InboxBody::Message { parts, .. }) => {
                            let (principal, parts) = (item.principal.clone(), parts.clone());
                            let refused = self.refuse(
                                principal,
                                item,
                                parts,
                                ConversationError::CredentialExpired.into(),
                            );
                            // Boxed, so that a turn has no room for it.
                            return Box::pin(refused).await;
                        }
                        // The turn waits until its subject sends a request.
                        (None, _) => return None,
                    }
                }
            };
            let mut account = live.request_context.quota_account();
            if matches!(item.body, InboxBody::Decisions { .. }) {
                let entries = load_unfinished_turn(&*room.endpoint.store, &room.id).await.ok()?;
                let entries = entries.unwrap_or_default();
                // Another principal may decide than the one that has begun the turn.
                account = match PrincipalRecord::of_last_turn(&entries) {
                    Some(record) => Some(QuotaAccount::of_record(record)),
                    None => account.filter(|account| account.subject.is_none()),
                };
                room.restore_chosen_model(&entries);
                if !entries.is_empty()
                    && let Some(owner) = other_owner(&entries, &live.request_context)
                {
                    // The turn goes on for the principal that began it, with its rights and not those of the approver.
                    let Some(principal) = room.principal_of(owner, context.as_ref()) else {
                        return reject_decision(room, &item, live.started).await;
                    };
                    live.request_context = principal;
                }
                if live.request_context.client_tool_definitions().is_empty() {
                    live.request_context = live
                        .request_context
                        .with_stored_client_tools(client_tools_of(&entries), &room.endpoint);
                }
            }
            if item.body == InboxBody::Stop && !self.is_stop_of_open_turn(&item).await.ok()? {
                // Its turn is over; another one may be open.
                return load_turn_status(&*room.endpoint.store, &room.id).await.ok();
            }
            let command = RoomCommand::from_inbox_item(&item, live, &room.endpoint);
            let mut command = Box::new(command);
            command.account = account;
            if command.started.is_none() {
                report_to_nodes(room, item.id.clone(), command.started_receiver());
            }
            match room.prepare_turn(&mut command).await {
                TurnStart::Ready => self.run(command, Some(item)).await,
                TurnStart::NotNow => None,
                TurnStart::Refused(error) => {
                    let InboxBody::Message { parts, .. } = &item.body else { return None };
                    let (parts, principal) = (parts.clone(), item.principal.clone());
                    if let Some(started) = command.started.take() {
                        // The receiver may be dropped.
                        let _ = started.send(Err(error.clone()));
                    }
                    Box::pin(self.refuse(principal, item, parts, error.into())).await
                }
            }
        })
    }

    fn resumes_paused(&self) -> bool {
        self.room.work().recovery.as_ref().is_some_and(|recovery| recovery.guard.is_some())
    }

    fn before_read(&self) {
        let mut work = self.room.work();
        work.worker = WorkerState::Attending;
        work.stops_next_turn = false;
    }

    fn may_finish(&self) -> bool {
        let mut work = self.room.work();
        if work.worker == WorkerState::Woken {
            return false;
        }
        work.end();
        self.is_finished.store(true, Ordering::Relaxed);
        // Before the next worker can begin a term.
        self.room.log.end_term(false);
        true
    }

    fn acquire_timeout(&self) -> Duration {
        match self.room.link {
            // The other node takes the item, or sends a message when it has released the lease.
            Some(_) => Duration::ZERO,
            None => ACQUIRE_TIMEOUT,
        }
    }
}

/// Rejects a decision about a turn whose principal has no valid credential, so that the turn cannot go on for it.
async fn reject_decision(
    room: &Arc<Room>,
    item: &InboxItem,
    started: StartedSender,
) -> Option<TurnStatus> {
    let store = &room.endpoint.store;
    store.remove_inbox_item(&room.id, item.position).await.ok()?;
    let message = "the call runs for a person who is signed out: decide when they are back";
    let error = ConversationError::Conflict { message };
    match started {
        // The client may be gone.
        Some(started) => drop(started.send(Err(error))),
        None => room.log.send_to_nodes(&NodeMessage::rejected(item.id.clone(), &error)),
    }
    load_turn_status(&**store, &room.id).await.ok()
}

/// The principal that a turn runs for, if it is another than that of a request; the inner `None` is the operator.
fn other_owner<'a>(
    turn: &'a [Entry],
    context: &RequestContext,
) -> Option<Option<&'a PrincipalRecord>> {
    let owner = PrincipalRecord::of_last_turn(turn);
    let is_same = owner.map(|owner| owner.subject.as_str()) == context.subject();
    (!is_same).then_some(owner)
}

/// The definitions of the tools that the client of a turn runs itself.
pub(super) fn client_tools_of(turn: &[Entry]) -> &[Value] {
    let of_message = turn.iter().map(|entry| &*entry.client_tools);
    of_message.rev().find(|tools| !tools.is_empty()).unwrap_or_default()
}

/// Reports the outcome of an item to the node that has accepted it.
fn report_to_nodes(
    room: &Arc<Room>,
    item: String,
    started: oneshot::Receiver<Result<u64, ConversationError>>,
) {
    let room = Arc::clone(room);
    tokio::spawn(async move {
        let message = match started.await {
            Ok(Ok(seq)) => NodeMessage::Started { item, seq },
            Ok(Err(error)) => NodeMessage::rejected(item, &error),
            // It is taken later.
            Err(_) => return,
        };
        room.log.send_to_nodes(&message);
    });
}

impl Room {
    /// Has the inbox read and an interrupted turn resumed, by a new worker if there is none.
    pub(crate) fn wake(self: &Arc<Self>) {
        let before = std::mem::replace(&mut self.work().worker, WorkerState::Woken);
        if before != WorkerState::Absent {
            return;
        }
        let room = Arc::clone(self);
        self.endpoint.server.running_turns.spawn(async move {
            tokio::select! {
                () = room.run_worker() => return,
                // Unfinished turns and the inbox are attended to by another process.
                () = room.endpoint.server.shutdown.cancelled() => {}
            }
            room.release_turn().await;
            let held = room.work().held.take();
            if let Some(lease) = held.and_then(|held| held.lease) {
                lease.release().await;
                room.log.end_term(true);
                room.endpoint.server.hand_over(&room.id);
            }
        });
    }

    /// Wakes the worker, or the one of the node that holds the lease.
    pub(super) fn wake_holder(self: &Arc<Self>) {
        self.work().wakes_holder = true;
        self.wake();
    }

    /// Another node has added an item to the inbox.
    pub(super) fn on_inbox_changed(self: &Arc<Self>) {
        if self.is_working() || self.event_log().was_last_holder() {
            self.inbox_changed.notify_one();
            self.wake();
        }
    }

    /// Returns true if clients of this node wait for commands that another node runs.
    pub(super) fn has_waiting_commands(&self) -> bool {
        !self.work().live.is_empty()
    }

    /// Answers the client of a command that another node has taken.
    pub(super) fn report_started(&self, item: &str, outcome: Result<u64, ConversationError>) {
        let live = self.work().live.remove(item);
        if let Some(started) = live.and_then(|live| live.started) {
            // The client may be gone.
            let _ = started.send(outcome);
        }
    }

    /// Attends to the conversation once: resumes its interrupted turn, and takes the items of its inbox.
    async fn run_worker(self: &Arc<Self>) {
        let endpoint = &self.endpoint;
        let worker = RoomWorker {
            room: self,
            is_finished: AtomicBool::new(false),
            is_interrupted: AtomicBool::new(false),
        };
        let duration = endpoint.server.limits.lease_duration;
        let attended =
            attend(&endpoint.store, &self.id, &endpoint.server.node, duration, &worker).await;
        // The lease was released after that, while the next worker may have begun.
        if worker.is_finished.into_inner() {
            self.report_taken().await;
            return;
        }
        if endpoint.server.draining.is_cancelled() {
            endpoint.server.hand_over(&self.id);
        }
        let is_interrupted = worker.is_interrupted.into_inner() || attended.is_err();
        let (live, is_woken) = {
            let mut work = self.work();
            let is_woken = work.worker == WorkerState::Woken;
            work.end();
            // Before the next worker can begin a term.
            self.log.end_term(is_interrupted);
            match attended {
                Ok(Attended::Done) => (HashMap::new(), is_woken),
                Ok(Attended::Elsewhere) if self.link.is_some() => {
                    self.leave_to_holder(&mut work);
                    (HashMap::new(), false)
                }
                // The sweeper tries again later.
                _ => (std::mem::take(&mut work.live), false),
            }
        };
        if is_woken {
            self.wake();
        }
        if let Err(error) = attended {
            if matches!(error, StoreError::LeasedElsewhere { .. }) {
                endpoint.server.metrics.lost_leases.inc();
            }
            tracing::warn!(conversation = self.id, %error, "a conversation cannot be attended to");
            if self.event_log().turn().running {
                self.log.publish(TurnError::from(error).to_event(), None);
            }
        }
        self.report_busy(live);
    }

    /// Has the node that holds the lease read the inbox. Clients whose commands it does not take in time get an error.
    fn leave_to_holder(self: &Arc<Self>, work: &mut RoomWork) {
        if std::mem::take(&mut work.wakes_holder) {
            self.log.send_to_nodes(&NodeMessage::InboxChanged);
        }
        if !work.live.is_empty() && !std::mem::replace(&mut work.is_watching_holder, true) {
            tokio::spawn(Arc::clone(self).watch_holder());
        }
    }

    /// Wakes the node that holds the lease again, while clients of this node wait for it: messages between nodes may be lost.
    /// Clients that have waited for too long get an error.
    async fn watch_holder(self: Arc<Self>) {
        loop {
            sleep(self.endpoint.server.limits.lease_duration / 3).await;
            self.report_taken().await;
            let late: HashMap<String, LiveCommand> = {
                let mut work = self.work();
                if work.live.is_empty() {
                    work.is_watching_holder = false;
                    return;
                }
                if work.worker != WorkerState::Absent {
                    continue;
                }
                let is_late = |live: &mut LiveCommand| live.accepted.elapsed() >= ACQUIRE_TIMEOUT;
                work.live.extract_if(|_, live| is_late(live)).collect()
            };
            self.report_busy(late);
            self.wake_holder();
        }
    }

    /// Answers clients whose commands are not in the inbox any more: another node has taken them and its message has not
    /// arrived, or a decision was sent again while it was carried out.
    async fn report_taken(&self) {
        let waiting: Vec<String> = {
            let work = self.work();
            let stored = work.live.iter().filter(|(_, live)| live.is_stored);
            stored.map(|(item, _)| item.clone()).collect()
        };
        if waiting.is_empty() {
            return;
        }
        let store = &self.endpoint.store;
        let (Ok(inbox), Ok(entries)) = (store.inbox(&self.id).await, store.load(&self.id).await)
        else {
            return;
        };
        for item in waiting {
            if inbox.iter().any(|it| it.id == item) {
                continue;
            }
            // Its first event is not known: the client reads a snapshot.
            let is_kept = entries.iter().any(|entry| entry.id == item);
            self.report_started(
                &item,
                is_kept.then_some(NO_SEQ).ok_or_else(ConversationError::not_taken),
            );
        }
    }

    /// Answers clients whose commands stay in the inbox, because another process holds the lease.
    fn report_busy(&self, live: HashMap<String, LiveCommand>) {
        let reason = StoreError::leased_elsewhere(&self.name).to_string();
        for started in live.into_values().filter_map(|live| live.started) {
            // The client may be gone.
            let _ = started.send(Err(ChatError::Busy { reason: reason.clone() }.into()));
        }
    }

    /// Runs the one command of a conversation that is not stored.
    pub(super) async fn run_unstored(self: Arc<Self>, mut command: RoomCommand) {
        let turn = RunningTurn { cancel: command.cancel.clone(), item: None, reservation: None };
        self.work().turn = Some(turn);
        let run = async {
            let error = match self.prepare_turn(&mut command).await {
                TurnStart::Ready => {
                    self.run_turn(Box::new(command), None).await;
                    return;
                }
                TurnStart::Refused(error) => error,
                TurnStart::NotNow => ConversationError::Ending,
            };
            self.log.publish(TurnError::from(error).to_event(), None);
        };
        tokio::select! {
            () = run => {}
            () = self.endpoint.server.shutdown.cancelled() => {}
        }
        self.work().end();
    }

    /// Runs a command; returns the status of the turn afterwards, `None` if the store failed.
    async fn run_turn(
        self: &Arc<Self>,
        mut command: Box<RoomCommand>,
        item: Option<InboxItem>,
    ) -> Option<TurnStatus> {
        let reservation = command.reservation.take();
        let permit = reservation.as_ref().and_then(|it| it.permit.as_ref()).map(Arc::downgrade);
        if let Some(turn) = &mut self.work().turn {
            turn.reservation = reservation;
        }
        let to = self.endpoint.event_recipient(command.peer.as_ref());
        // Boxed, because each future around it would have room for it twice.
        let turn = Box::pin(crate::conversation::turn::run_command(self, command, item));
        let turn = TurnPermit::run_turn(permit.unwrap_or_default(), turn);
        let status = AssertUnwindSafe(turn).catch_unwind().await;
        let status = status.unwrap_or_else(|_| {
            tracing::error!(conversation = self.id, "a handler of the endpoint panicked");
            self.publisher().publish(TurnError::Panicked.to_event(), to);
            CommandStatus::Unknown
        });
        self.event_log().end_turn();
        self.release_turn().await;
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
        let (running, current) = {
            let work = self.work();
            let turn = work.turn.as_ref();
            turn.map(|turn| (turn.cancel.clone(), turn.item.clone())).unzip()
        };
        let store = &self.endpoint.store;
        let entries = match self.unstored {
            Some(_) => None,
            None => load_unfinished_turn(&**store, &self.id).await?,
        };
        let is_open = entries.is_some();
        if running.is_none() && !is_open && self.event_log().pending().is_empty() {
            return Ok(false);
        }
        if self.unstored.is_none() {
            let entries = entries.unwrap_or_default();
            let turn = open_turn_messages(&entries).next_back();
            // A turn that has just begun is not in the journal yet.
            let turn = turn.map(str::to_owned).or_else(|| current.flatten().filter(|_| !is_open));
            let item = match turn {
                Some(turn) => InboxItem::stop(&turn, unix_millis_now()),
                None => InboxItem::new(random_id()?, unix_millis_now(), InboxBody::Stop),
            };
            store.push_inbox(&self.id, &item, usize::MAX).await?;
        }
        {
            let mut work = self.work();
            // A worker that is about to resume the turn has read the inbox already.
            match (running, &self.link) {
                (Some(running), _) => running.cancel(),
                // A turn that begins meanwhile ends only if the stop is still in the inbox then.
                (None, Some(_)) => self.inbox_changed.notify_one(),
                (None, None) => match &work.turn {
                    Some(turn) => turn.cancel.cancel(),
                    None => work.stops_next_turn = true,
                },
            }
        }
        self.wake_holder();
        Ok(true)
    }
}
