//! A conversation in memory: its event log, its snapshots, and what it accepts into its inbox.

use std::slice;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use toolwright_chat::{
    Append, Branch, Entry, EntryBody, HeldLease, InboxBody, InboxItem, MessagePart, Model, Owner,
    PendingApproval, PrincipalRecord, StoreError, TailEnd, TurnRequest, abandon_turn, branches,
    is_turn_over, load_path, load_unfinished_turn, newest_path,
};
use toolwright_conversation::event_log::{EventLog, EventSource, NO_SEQ, PartialStep};
use toolwright_conversation::follower::Follower;
use toolwright_conversation::node_message::NodeMessage;
use toolwright_conversation::peers::Peers;
use toolwright_conversation::shared_log::{NodeChannel, Publisher, SharedLog};
use toolwright_conversation::{
    ConversationError, ConversationUsage, EndpointEvent, PeerId, UsageSum,
};
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::CancellationToken;

use crate::auth::request_context::RequestContext;
use crate::conversation::cluster::room_link::RoomLink;
use crate::conversation::room_command::{CommandKind, RoomCommand};
use crate::conversation::room_worker::{Held, Recovery, RoomWork, WorkerState};
use crate::conversation::unstored::UnstoredConversation;
use crate::endpoint::path_template::PathParams;
use crate::endpoint::{EndpointRuntime, random_id};

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
    pub(crate) log: Arc<SharedLog>,
    work: Mutex<RoomWork>,
    /// Notified when another node, or a stop, has added an item to the inbox.
    pub(super) inbox_changed: Notify,
    /// Notified when a running turn has sent a message, whose turn shares its permit.
    pub(super) permit_lent: Notify,
    /// The link to the other nodes; `None` if there are none.
    pub(super) link: Option<RoomLink>,
    /// True once the turn that an earlier process left unfinished was resumed, or there was none.
    recovered: tokio::sync::Mutex<bool>,
    pub(crate) peers: Peers,
    /// Counts the changes of who may use the conversation; wakes those who wait for the end of their access.
    access_version: watch::Sender<u64>,
    /// The model that the last message chose.
    chosen_model: Mutex<Option<Arc<dyn Model>>>,
    pub(super) usage: UsageSum,
    /// The term of the last lease that this node had.
    pub(super) last_own_term: AtomicU64,
    /// The history of the request, if the conversation is not stored.
    pub(crate) unstored: Option<Arc<UnstoredConversation>>,
}

/// A snapshot of a conversation; events after [`seq`](Self::seq) complete it.
#[derive(Serialize)]
pub(crate) struct ConversationSnapshot {
    pub(crate) id: String,
    /// The journal up to the running turn.
    pub(crate) entries: Vec<Entry>,
    /// The sequence number up to which events are included in the entries; [`NO_SEQ`] if it is not known.
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
    /// The names of the people who are connected, if several share the conversation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) participants: Vec<String>,
    /// What the client may do: `owner`, `participate`, `read` or `admin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access: Option<&'static str>,
    /// The position of the next event in the log: the snapshot replaces the events without a number before it.
    #[serde(skip)]
    pub(crate) position: u64,
    /// True if the events of the turn follow, from [`seq`](Self::seq) on; otherwise those from [`position`](Self::position) on.
    #[serde(skip)]
    pub(crate) events_follow: bool,
    /// True if a node attends to the conversation, so that a turn may be about to begin.
    #[serde(skip)]
    pub(crate) is_attended: bool,
}

/// An accepted command.
pub(crate) struct Admitted {
    /// True if it has to wait for another turn.
    pub(crate) is_waiting: bool,
    /// Its position in the inbox; `None` if the conversation is not stored.
    pub(crate) position: Option<u64>,
    /// The id of its inbox item, and of the first entry that the journal has of it.
    pub(crate) item: String,
}

impl Room {
    pub(crate) fn new(
        endpoint: Arc<EndpointRuntime>,
        id: String,
        name: String,
        params: PathParams,
    ) -> Self {
        let bus = endpoint.server.bus.clone();
        let log = Arc::new(SharedLog::new(bus.map(|bus| NodeChannel::new(bus, &id))));
        let server = &endpoint.server;
        let follow = |_: &NodeChannel| {
            let (store, node) = (Arc::clone(&endpoint.store), Arc::clone(server));
            RoomLink::new(Follower::new(Arc::clone(&log), store, &id, node))
        };
        Self {
            link: log.nodes().map(follow),
            peers: Peers::new(Arc::clone(&log), &server.node, endpoint.is_shared()),
            log,
            id,
            name,
            endpoint,
            params,
            work: Mutex::default(),
            inbox_changed: Notify::new(),
            permit_lent: Notify::new(),
            recovered: tokio::sync::Mutex::default(),
            access_version: watch::Sender::new(0),
            chosen_model: Mutex::default(),
            usage: UsageSum::default(),
            last_own_term: AtomicU64::default(),
            unstored: None,
        }
    }

    /// A room for one message, whose conversation is not stored.
    pub(crate) fn unstored(mut self, conversation: UnstoredConversation) -> Self {
        self.unstored = Some(Arc::new(conversation));
        self.link = None;
        self.log = Arc::new(SharedLog::new(None));
        self.peers = Peers::new(Arc::clone(&self.log), "", false);
        let publisher = self.log.begin_term(1);
        self.work().held = Some(Held { lease: None, publisher });
        self
    }

    pub(crate) fn event_log(&self) -> MutexGuard<'_, EventLog> {
        self.log.lock()
    }

    pub(super) fn work(&self) -> MutexGuard<'_, RoomWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The publisher of the turn that runs, or of events that belong to no turn.
    pub(crate) fn publisher(&self) -> Publisher {
        let publisher = self.work().held.as_ref().map(|held| held.publisher.clone());
        publisher.unwrap_or_else(|| self.log.publisher())
    }

    /// Changes when the access of a principal may have ended.
    pub(crate) fn watch_access(&self) -> watch::Receiver<u64> {
        self.access_version.subscribe()
    }

    /// Checks that a principal may use the conversation, if it is a room; others are found under their owner only. Every request,
    /// message, decision and resumed turn passes here, when it begins and when it is about to run.
    ///
    /// `NotFound` if it may not, `Undecided` if that cannot be decided now.
    pub(crate) async fn check_access(
        &self,
        context: &RequestContext,
    ) -> Result<(), ConversationError> {
        let EndpointRuntime { room_access, template, invoker, .. } = &*self.endpoint;
        if !self.endpoint.is_shared() {
            return Ok(());
        }
        // Of the name that the conversation is stored under, whatever other parameters a router around this one has.
        let params = template.match_path(&self.name).unwrap_or_default();
        room_access.check(context.principal(), &params, invoker).await
    }

    /// Has the connections of this conversation check whether they may go on, at all nodes.
    pub(crate) fn recheck_access(&self) {
        self.on_access_changed();
        self.log.send_to_nodes(&NodeMessage::AccessChanged);
    }

    pub(super) fn on_access_changed(&self) {
        self.access_version.send_modify(|version| *version += 1);
    }

    pub(crate) fn is_turn_running(&self) -> bool {
        self.event_log().turn().running
    }

    /// Returns true if the room can be dropped from memory: no turn runs, no client is connected, and nothing would be lost.
    pub(crate) fn is_evictable(&self) -> bool {
        let is_working = self.is_working();
        // Pending approvals are in the journal of a stored conversation, and are requested again from there.
        let kept = self.endpoint.is_persistent() || self.event_log().pending().is_empty();
        !is_working && self.peers.own_count() == 0 && kept
    }

    /// Accepts a command of a client: stored in the inbox when this returns.
    ///
    /// An error if a message could not be stored or answered now, the inbox is full, or a quota is used up. Decisions belong to a turn that was accepted
    /// before, so the limits of the server and of its
    /// person do not apply to them. A conversation that is not stored promises nothing.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        mut command: RoomCommand,
    ) -> Result<Admitted, ConversationError> {
        let is_waiting = self.is_working() || self.is_turn_running();
        let mut admitted = None;
        if let CommandKind::Message(message) = &command.kind {
            let (account, model) = (command.account.as_ref(), message.model.as_ref());
            let mut message = self.admit_message(account, model, is_waiting).await?;
            command.reservation = Some(std::mem::take(&mut message.reservation));
            admitted = Some(message);
        }
        let is_message = admitted.is_some();
        if self.unstored.is_some() {
            let room = Arc::clone(self);
            self.endpoint
                .server
                .running_turns
                .spawn(async move { room.run_unstored(command).await });
            return Ok(Admitted { is_waiting: false, position: None, item: String::new() });
        }
        let (item, live) = command.into_inbox_item()?;
        let id = item.id.clone();
        let is_lent = live.lent_permit().is_some();
        {
            let mut work = self.work();
            if work.is_running(&id) {
                return Err(decided_before());
            }
            // Of a decision that is sent again, the newer request is answered: its client waits.
            work.live.insert(id.clone(), live);
        }
        if is_lent {
            self.permit_lent.notify_one();
        }
        // Decisions are accepted even if the inbox is full of messages.
        let limit = if is_message { MAX_QUEUED_MESSAGES } else { 2 * MAX_QUEUED_MESSAGES };
        let pushed = self.endpoint.store.push_inbox(&self.id, &item, limit).await;
        // The journal has it already. Without its live command, the worker of this node has just taken it.
        if matches!(pushed, Ok(Some(0))) && !is_message && self.work().live.remove(&id).is_some() {
            return Err(decided_before());
        }
        if !matches!(pushed, Ok(Some(_))) {
            self.work().live.remove(&id);
            if let Some(message) = admitted {
                message.undo(&self.endpoint.server.quotas).await;
            }
        }
        let position = pushed?;
        if position.is_none() {
            let message = "too many messages wait for this conversation already";
            return Err(ConversationError::Full { message });
        }
        if let Some(live) = self.work().live.get_mut(&id) {
            live.is_stored = true;
        }
        self.wake_holder();
        Ok(Admitted { is_waiting, position, item: id })
    }

    /// Withdraws a queued message, on behalf of its sender or the owner of the conversation.
    ///
    /// `NotQueued` if it is not in the queue any more, `Forbidden` for other principals.
    pub(crate) async fn withdraw_message(
        &self,
        position: u64,
        context: &RequestContext,
    ) -> Result<(), ConversationError> {
        let store = &self.endpoint.store;
        let is_message = |item: &InboxItem| matches!(item.body, InboxBody::Message { .. });
        let mut inbox = store.inbox(&self.id).await?.into_iter();
        let item = inbox.find(|item| item.position == position && is_message(item));
        let item = item.ok_or(ConversationError::NotQueued)?;
        let (owner, _) = Owner::split_stored_name(&self.id);
        let principal = context.owner();
        if principal != owner && principal != owner_of(item.principal.as_ref()) {
            let message = "only the principal that sent a message may withdraw it";
            return Err(ConversationError::Forbidden { message });
        }
        // A turn that begins meanwhile, here or in another process, cannot append the message any more.
        let has_begun = self.work().is_running(&item.id);
        if has_begun || !store.remove_inbox_item(&self.id, position).await? {
            return Err(ConversationError::NotQueued);
        }
        self.work().live.remove(&item.id);
        let peer = item.peer.map(PeerId::from);
        let to = self.endpoint.event_recipient(peer.as_ref());
        self.log.publish(EndpointEvent::Withdrawn { position }, to);
        Ok(())
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
        self.connect_to_nodes().await;
        let (knows_term, source) = {
            let log = self.event_log();
            (log.knows_term(), log.source())
        };
        match &self.link {
            Some(_) if !knows_term || source == EventSource::Incomplete => {
                self.sync_with_holder().await?;
            }
            None if !knows_term => {
                let status = self.endpoint.store.lease_status(&self.id).await?;
                self.event_log().settle(status.term);
            }
            _ => {}
        }
        let is_attended_elsewhere = {
            let mut log = self.event_log();
            let source = log.source();
            let is_free = matches!(source, EventSource::Settled | EventSource::Expired);
            if is_free && log.take_needs_recovery() {
                *recovered = false;
            }
            matches!(source, EventSource::OtherNode | EventSource::Incomplete)
        };
        if *recovered || self.has_open_turn() || is_attended_elsewhere {
            return Ok(());
        }
        let entries = load_unfinished_turn(&*self.endpoint.store, &self.id).await?;
        let has_items = !self.endpoint.store.inbox(&self.id).await?.is_empty();
        if entries.is_none() && !has_items {
            *recovered = true;
            return Ok(());
        }
        let can_resume = entries.is_none_or(|entries| {
            let record = PrincipalRecord::of_last_turn(&entries);
            self.principal_of(record, Some(context)).is_some()
        });
        if !can_resume {
            return Ok(());
        }
        *recovered = true;
        let settled = CancellationToken::new();
        let guard = Some(settled.clone().drop_guard());
        self.work().recovery = Some(Recovery { settled, guard, context: context.clone() });
        self.wake();
        Ok(())
    }

    /// The principal that a journal or an inbox records, with a credential that is valid now: its own, or that of the request
    /// in `context`, if it is of the same subject.
    pub(super) fn principal_of(
        &self,
        record: Option<&PrincipalRecord>,
        context: Option<&RequestContext>,
    ) -> Option<RequestContext> {
        let owner = owner_of(record);
        let context = context.filter(|context| context.owner() == owner);
        let restored = RequestContext::from_record(&self.endpoint.auth, record);
        match (restored, context) {
            (Some(restored), Some(context)) => Some(restored.with_client_tools_of(context)),
            (restored, context) => restored.or_else(|| context.cloned()),
        }
    }

    /// Returns true if this process runs a turn of the conversation, or has a paused one.
    fn has_open_turn(&self) -> bool {
        self.work().turn.is_some() || !self.event_log().pending().is_empty()
    }

    pub(super) fn is_working(&self) -> bool {
        self.work().worker != WorkerState::Absent
    }

    /// The id of the inbox item whose turn runs.
    fn current_item(&self) -> Option<String> {
        self.work().turn.as_ref()?.item.clone()
    }

    /// The lease of the conversation, while a worker of this process holds it.
    pub(crate) fn held_lease(&self) -> Option<Arc<HeldLease>> {
        self.work().held.as_ref().and_then(|held| held.lease.clone())
    }

    /// Waits until a recovered turn has requested its approvals again, has ended or made progress; at most
    /// [`RECOVERY_TIMEOUT`].
    pub(crate) async fn wait_until_recovered(&self) {
        let settled = self.work().recovery.as_ref().map(|recovery| recovery.settled.clone());
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
    pub(crate) async fn snapshot(self: &Arc<Self>) -> Result<ConversationSnapshot, StoreError> {
        self.snapshot_at(None).await
    }

    /// A snapshot whose entries are the path to the one of the id `at`, empty if there is none. It includes the running or
    /// paused turn only if that is the newest entry.
    pub(crate) async fn snapshot_at(
        self: &Arc<Self>,
        at: Option<&str>,
    ) -> Result<ConversationSnapshot, StoreError> {
        for _ in 0..SNAPSHOT_ATTEMPTS {
            let turn = self.event_log().turn().clone();
            let entries = self.endpoint.store.load(&self.id).await?;
            // Read before the log: if a queued message begins in between, its event is in the log or the snapshot is
            // retried.
            let (queued_positions, queued) = self.queued_messages().await?;
            let pending = self.pending_approvals_of(&entries, None).await;
            let pending = pending.unwrap_or_else(|error| {
                tracing::warn!(conversation = self.id, %error, "pending calls cannot be shown");
                Vec::new()
            });
            // After reading the journal, so that the log is not older.
            let stored_term = self.sync_with_holder().await?;
            let log = self.event_log();
            // A turn that began meanwhile may have written to the journal already.
            let is_other_turn = log.turn().turn_number != turn.turn_number
                || log.turn().seq_before != turn.seq_before;
            if is_other_turn {
                continue;
            }
            let newest = entries.last().map(|entry| entry.id.as_str());
            let shows_turn = at.is_none() || at == newest;
            let running = match log.source() {
                EventSource::Incomplete => !is_turn_over(&entries) && pending.is_empty(),
                _ => turn.running,
            };
            let running = running && shows_turn;
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
                peers: self.peers.count(),
                participants: self.peers.names(),
                access: None,
                position: log.next_position(),
                events_follow: false,
                is_attended: !matches!(log.source(), EventSource::Settled | EventSource::Expired),
            };
            let mut end = at.or(newest);
            let has_turn_events = turn.running && log.retains_after(turn.seq_before);
            if at.is_none() && running && has_turn_events {
                // The events of the turn follow, which include the pending approvals.
                end = turn.entry_before.as_deref();
                snapshot.seq = turn.seq_before;
                snapshot.events_follow = true;
            } else {
                if stored_term.is_some_and(|term| !log.has_all_before(term)) {
                    // The journal has more than the log: after its number, another node would send events that are included.
                    snapshot.seq = NO_SEQ;
                }
                if shows_turn {
                    snapshot.pending = match log.pending() {
                        // The log of a node that has missed events has none.
                        [] if !running => pending,
                        followed => followed.to_vec(),
                    };
                    snapshot.partial = running.then(|| log.partial().clone());
                }
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
        let current = self.current_item();
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

    /// Resumes a turn in the event log, with the same answer; returns the sequence number before its next event.
    pub(crate) async fn resume_turn(&self) -> Result<u64, StoreError> {
        let last = self.load_last_entry().await?;
        Ok(self.log.begin_turn(last.map(|last| last.id), false))
    }

    /// Starts the turn of a message in the event log; returns the sequence number before its first event.
    ///
    /// A turn that is still open is ended first, as [`abandon_turn`](Self::abandon_turn) does. `after` is the id of the entry after
    /// which the message continues, if it names one.
    pub(crate) async fn begin_turn(
        &self,
        after: Option<&str>,
        to: Option<PeerId>,
    ) -> Result<u64, StoreError> {
        let mut last = self.load_last_entry().await?;
        if last.as_ref().is_some_and(|last| !is_turn_over(slice::from_ref(last))) {
            self.abandon_turn(to).await?;
            last = self.load_last_entry().await?;
        }
        let entry_before = after.map(str::to_owned).or(last.map(|last| last.id));
        Ok(self.log.begin_turn(entry_before, true))
    }

    /// Ends a turn that is open, because a message continues the conversation without it: its subscribers receive the results of
    /// its calls, and its end.
    pub(crate) async fn abandon_turn(&self, to: Option<PeerId>) -> Result<(), StoreError> {
        let lease = self.held_lease();
        let lease = lease.ok_or_else(|| StoreError::leased_elsewhere(&self.name))?;
        let events = abandon_turn(&*self.endpoint.store, lease.lease()).await?;
        if !events.is_empty() {
            self.usage.invalidate();
        }
        let publisher = self.publisher();
        for event in events {
            publisher.publish(event, to.clone());
        }
        Ok(())
    }

    /// Loads the last entry of the journal; `None` if the conversation has none, or is not stored.
    async fn load_last_entry(&self) -> Result<Option<Entry>, StoreError> {
        if self.unstored.is_some() {
            return Ok(None);
        }
        let last = self.endpoint.store.tail(&self.id, TailEnd::Newest, 1).await?;
        Ok(last.into_iter().next_back())
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
        let current = self.current_item();
        let store = &self.endpoint.store;
        let deleted = async {
            let inbox = store.inbox(&self.id).await?;
            if let Some(item) = inbox.iter().find(|item| current.as_ref() == Some(&item.id)) {
                let taken = [item.position];
                store.append(lease.lease(), Append::new(&[]).taking(&taken)).await?;
            }
            // A message that arrives meanwhile is not deleted with the conversation.
            store.delete_expired(lease.lease(), u64::MAX).await.map(drop)
        };
        if let Err(error) = deleted.await {
            tracing::warn!(conversation = self.id, "it could not be forgotten: {error}");
        }
    }

    /// Sets the model that the message chose.
    pub(crate) fn set_chosen_model(&self, model: Option<Arc<dyn Model>>) {
        *self.chosen_model.lock().unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// Sets the model that has answered the entries of a turn, if another process began the turn.
    pub(super) fn restore_chosen_model(&self, entries: &[Entry]) {
        let mut chosen = self.chosen_model.lock().unwrap_or_else(PoisonError::into_inner);
        if self.link.is_some() && !self.event_log().has_turn_of_own() {
            *chosen = None;
        }
        let model = entries.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::Step { step, .. } => Some(&step.model),
            _ => None,
        });
        if let (None, Some(model)) = (&*chosen, model) {
            let name = format!("{}:{}", model.vendor, model.name);
            *chosen = self.endpoint.server.models.find(&name).ok();
        }
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
        // Only interceptors read it, and summing up a long journal is slow.
        match self.unstored.is_some() || self.endpoint.interceptors.is_empty() {
            true => Ok(ConversationUsage::default()),
            false => self.usage.get(&*self.endpoint.store, &self.id).await,
        }
    }

    /// Discards the commands and the events of a deleted conversation; subscribers receive a new snapshot.
    pub(crate) fn reset(&self) {
        self.work().live.clear();
        self.usage.invalidate();
        self.log.update(EventLog::clear);
        self.on_access_changed();
    }
}

/// The error of a decision that was sent before and taken.
fn decided_before() -> ConversationError {
    let message = "this decision was taken before: sending it again changes nothing";
    ConversationError::Conflict { message }
}

/// The owner of what a principal does.
fn owner_of(record: Option<&PrincipalRecord>) -> Owner {
    record.map_or(Owner::Operator, |record| Owner::Subject(record.subject.clone()))
}

/// The entry as clients see it: scopes are visible to their principal only, and a signature must not leave the store.
fn visible_entry(mut entry: Entry) -> Entry {
    entry.client_tools = Vec::new();
    entry.with_principal(None).without_mac()
}
