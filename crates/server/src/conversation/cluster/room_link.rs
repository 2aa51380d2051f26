//! The link of a room to the same conversation at other nodes: follows the events of the node that holds the lease, requests
//! its state where events are missing, and counts the clients of all nodes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OnceCell, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use toolwright_bus::{Bus, Delivery, Subscription};
use toolwright_chat::{LeaseStatus, StoreError, TailEnd};

use crate::conversation::cluster::node_message::NodeMessage;
use crate::conversation::error::ConversationError;
use crate::conversation::event_log::{EventSource, RemoteAppend};
use crate::conversation::presence::Participant;
use crate::conversation::room::Room;
use crate::endpoint::random_id;
use crate::endpoint::server_state::ServerState;

/// How long to wait for the state of the node that holds the lease.
const STATE_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a node announces its clients, and looks for missed events while the bus is away.
const TICK_INTERVAL: Duration = Duration::from_secs(5);

/// While no turn runs, the lease is compared with every so many ticks.
const TICKS_PER_TERM_CHECK: u64 = 2;

/// How long the clients of a node count that announces them no more.
const PEERS_LIFETIME: Duration = Duration::from_secs(20);

/// The link of a room to the other nodes.
pub(crate) struct RoomLink {
    bus: Arc<dyn Bus>,
    channel: String,
    /// Set once this node receives the messages of the others.
    subscribed: OnceCell<()>,
    /// Locked while the state of the holder is requested.
    syncing: tokio::sync::Mutex<()>,
    /// The number of such requests so far.
    begun_syncs: AtomicU64,
    /// The requests for the state of the holder, by their id.
    state_requests: Mutex<HashMap<String, oneshot::Sender<()>>>,
    /// The clients of other nodes, and when they were announced.
    peers: Mutex<HashMap<String, RemotePeers>>,
    /// The newest event at the last tick.
    last_seq: AtomicU64,
    /// The term whose holder has not responded.
    silent_term: AtomicU64,
    /// The number of ticks so far.
    ticks: AtomicU64,
    /// The term that the store had when it was last compared.
    stored_term: AtomicU64,
    /// The term and the last entry that were seen while the bus was away.
    last_seen: Mutex<Option<(u64, Option<String>)>>,
}

/// The clients of another node.
struct RemotePeers {
    count: usize,
    participants: Vec<Participant>,
    announced: Instant,
}

impl RoomLink {
    pub(crate) fn new(bus: Arc<dyn Bus>, conversation: &str) -> Self {
        Self {
            bus,
            channel: format!("room {conversation}"),
            subscribed: OnceCell::new(),
            syncing: tokio::sync::Mutex::default(),
            begun_syncs: AtomicU64::new(0),
            state_requests: Mutex::default(),
            peers: Mutex::default(),
            last_seq: AtomicU64::new(0),
            silent_term: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            stored_term: AtomicU64::new(0),
            last_seen: Mutex::default(),
        }
    }

    pub(crate) fn send(&self, message: &NodeMessage) {
        self.bus.publish(&self.channel, message.to_json());
    }

    /// The number of clients at other nodes.
    pub(crate) fn remote_peer_count(&self) -> usize {
        let mut peers = lock(&self.peers);
        peers.retain(|_, peers| peers.announced.elapsed() < PEERS_LIFETIME);
        peers.values().map(|peers| peers.count).sum()
    }

    /// The people who are connected to other nodes.
    pub(crate) fn remote_participants(&self) -> Vec<Participant> {
        let mut peers = lock(&self.peers);
        peers.retain(|_, peers| peers.announced.elapsed() < PEERS_LIFETIME);
        peers.values().flat_map(|peers| peers.participants.clone()).collect()
    }
}

impl ServerState {
    /// Ends the shares of a conversation that was deleted, and has other nodes discard what they have in memory of it.
    pub(crate) async fn on_deleted(&self, conversation: &str) {
        if let Err(error) = self.shares.revoke_all(conversation).await {
            // They grant nothing: a conversation that begins under the same name is another one.
            tracing::warn!(conversation, %error, "the links of a deleted conversation are still listed");
        }
        if let Some(bus) = self.bus.clone() {
            RoomLink::new(bus, conversation).send(&NodeMessage::Deleted);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Room {
    /// Sends a message to the other nodes, if there are any.
    pub(crate) fn send_to_nodes(&self, message: &NodeMessage) {
        if let Some(link) = &self.link {
            link.send(message);
        }
    }

    /// Receives the messages of other nodes from now on.
    pub(crate) async fn connect_to_nodes(self: &Arc<Self>) {
        let Some(link) = &self.link else { return };
        let connect = async || {
            let subscription = link.bus.subscribe(&link.channel).await.inspect_err(|error| {
                tracing::warn!(conversation = self.id, %error, "other nodes cannot be followed");
            });
            tokio::spawn(follow_nodes(Arc::downgrade(self), subscription.map_err(drop)?));
            link.send(&NodeMessage::PeersRequest);
            Ok::<(), ()>(())
        };
        // A failure is retried with the next request.
        let _ = link.subscribed.get_or_try_init(connect).await;
    }

    /// Brings the event log up to date with the node that holds the lease, and returns the term of the store; `None` if there
    /// are no other nodes.
    ///
    /// Afterwards the log has everything that was published before, or is marked as incomplete if that node does not respond.
    pub(crate) async fn sync_with_holder(&self) -> Result<Option<u64>, StoreError> {
        let Some(link) = &self.link else { return Ok(None) };
        let status = self.endpoint.store.lease_status(&self.id).await?;
        let term = Some(status.term);
        if self.event_log().source() == EventSource::Own {
            return Ok(term);
        }
        let Some(holder) = status.holder else {
            self.on_free_lease(&status);
            return Ok(term);
        };
        if self.endpoint.server.is_own_lease(&holder) {
            // A worker is about to begin its term, or a deletion has the lease.
            return Ok(term);
        }
        let is_silent = || link.silent_term.load(Ordering::Relaxed) == status.term;
        if !is_silent() && link.bus.status().is_connected() {
            let begun_before = link.begun_syncs.load(Ordering::Relaxed);
            let _in_turn = link.syncing.lock().await;
            // One that began after this call is over: many subscribers that see the same gap share it.
            if link.begun_syncs.load(Ordering::Relaxed) > begun_before && !is_silent() {
                return Ok(term);
            }
            link.begun_syncs.fetch_add(1, Ordering::Relaxed);
            let request = random_id()?;
            let (sender, received) = oneshot::channel();
            lock(&link.state_requests).insert(request.clone(), sender);
            link.send(&NodeMessage::StateRequest { request: request.clone(), holder });
            let outcome = timeout(STATE_TIMEOUT, received).await;
            lock(&link.state_requests).remove(&request);
            if outcome.is_ok() {
                return Ok(term);
            }
            link.silent_term.store(status.term, Ordering::Relaxed);
        }
        self.update_log(|log| log.mark_incomplete());
        Ok(term)
    }

    fn on_node_message(self: &Arc<Self>, link: &RoomLink, message: NodeMessage) {
        match message {
            NodeMessage::Event(event) => {
                self.endpoint.server.metrics.record_remote_event(event.at);
                let appended = self.update_log(|log| log.append_remote(*event));
                self.lose_events_if_gap(link, appended);
            }
            NodeMessage::TermBegan { term, before } => {
                self.update_log(|log| log.on_remote_term(term, before));
                // The sum in memory lacks the turns of the other node.
                self.usage_is_stale.store(true, Ordering::Relaxed);
            }
            NodeMessage::TermEnded { term, newest_seq, is_interrupted } => {
                let last = Some(newest_seq).filter(|_| !is_interrupted);
                self.update_log(|log| log.on_remote_term_end(term, last));
                if self.has_waiting_commands() {
                    self.wake_holder();
                }
            }
            NodeMessage::TurnBegan { turn } => {
                let began = self.update_log(|log| log.begin_remote_turn(turn));
                self.lose_events_if_gap(link, began);
            }
            NodeMessage::Started { item, seq } => self.report_started(&item, Ok(seq)),
            NodeMessage::Rejected { item, error, message } => {
                let error = ConversationError::OtherNode { kind: error, message };
                self.report_started(&item, Err(error));
            }
            NodeMessage::InboxChanged => self.on_inbox_changed(),
            NodeMessage::StateRequest { request, holder } => {
                if self.endpoint.server.is_own_lease(&holder) {
                    let log = self.event_log();
                    let state = log.state().map(Box::new);
                    // Before the next event is published.
                    link.send(&NodeMessage::State { request, state });
                }
            }
            NodeMessage::State { request, state } => {
                let Some(sender) = lock(&link.state_requests).remove(&request) else { return };
                match state {
                    Some(state) => self.update_log(|log| log.apply_state(*state)),
                    // It was released meanwhile, and its end is in the journal.
                    None => self.update_log(|log| log.settle_current_term()),
                }
                // The request may have timed out.
                let _ = sender.send(());
            }
            NodeMessage::Peers { node, count, participants } => {
                let peers = RemotePeers { count, participants, announced: Instant::now() };
                lock(&link.peers).insert(node, peers);
                self.set_shared();
                self.publish_peers();
            }
            NodeMessage::PeersRequest => self.announce_peers(),
            NodeMessage::AccessChanged => self.on_access_changed(),
            NodeMessage::Deleted => {
                let room = Arc::clone(self);
                tokio::spawn(async move { room.reset().await });
            }
        }
    }

    /// Requests the state of the holder where events are missing: every subscriber reads a snapshot.
    fn lose_events_if_gap(&self, link: &RoomLink, appended: RemoteAppend) {
        let is_requested = !lock(&link.state_requests).is_empty();
        if appended == RemoteAppend::Gap && !is_requested {
            link.silent_term.store(0, Ordering::Relaxed);
            self.endpoint.server.metrics.event_gaps.inc();
            self.update_log(|log| log.lose_events());
        }
    }

    /// Announces the number of clients of this node to the others.
    pub(crate) fn announce_peers(&self) {
        if self.is_shared() {
            let (node, count) = (self.endpoint.server.node.clone(), self.own_peer_count());
            let participants = self.own_participants();
            self.send_to_nodes(&NodeMessage::Peers { node, count, participants });
        }
    }

    async fn on_tick(&self, link: &RoomLink) {
        if self.own_peer_count() > 0 {
            self.announce_peers();
        }
        // Those of a node that is gone count no more.
        self.publish_peers();
        let checked = if !self.has_subscribers() {
            *lock(&link.last_seen) = None;
            Ok(())
        } else if link.bus.status().is_connected() {
            *lock(&link.last_seen) = None;
            self.check_holder(link).await
        } else {
            self.poll_journal(link).await
        };
        if let Err(error) = checked {
            tracing::warn!(conversation = self.id, %error, "the journal cannot be read now");
        }
    }

    /// Notices what the bus does not report while it is connected.
    async fn check_holder(&self, link: &RoomLink) -> Result<(), StoreError> {
        let (source, newest_seq) = {
            let log = self.event_log();
            (log.source(), log.newest_seq())
        };
        let is_silent = link.last_seq.swap(newest_seq, Ordering::Relaxed) == newest_seq;
        let ticks = link.ticks.fetch_add(1, Ordering::Relaxed);
        match source {
            EventSource::OtherNode | EventSource::Incomplete if is_silent => {
                self.check_silent_holder().await
            }
            EventSource::Expired => self.check_silent_holder().await,
            EventSource::Settled if ticks.is_multiple_of(TICKS_PER_TERM_CHECK) => {
                self.check_missed_term(link).await
            }
            _ => Ok(()),
        }
    }

    /// Notices that another node has had the lease and none of its messages have arrived, as those that the bus refuses.
    async fn check_missed_term(&self, link: &RoomLink) -> Result<(), StoreError> {
        let term = self.endpoint.store.lease_status(&self.id).await?.term;
        // That of the check before: messages of a term that has just begun may be on their way.
        let before = link.stored_term.swap(term, Ordering::Relaxed);
        if before > 0 {
            self.update_log(|log| log.lose_events_before_term(before));
        }
        Ok(())
    }

    /// Notices that the node whose events are followed does not hold the lease any more: one that is killed sends no end.
    async fn check_silent_holder(&self) -> Result<(), StoreError> {
        let status = self.endpoint.store.lease_status(&self.id).await?;
        match status.holder {
            None => self.on_free_lease(&status),
            Some(_) => self.update_log(|log| log.lose_events_before_term(status.term)),
        }
        Ok(())
    }

    /// No node holds the lease: the last one has released it, or has not renewed it in time.
    fn on_free_lease(&self, status: &LeaseStatus) {
        self.update_log(|log| match status.is_expired {
            true => log.expire(status.term),
            false => log.settle(status.term),
        });
    }

    /// While the bus is away, has subscribers read a snapshot when another node has written to the journal.
    async fn poll_journal(&self, link: &RoomLink) -> Result<(), StoreError> {
        if self.event_log().source() == EventSource::Own {
            return Ok(());
        }
        let store = &self.endpoint.store;
        let term = store.lease_status(&self.id).await?.term;
        let last = store.tail(&self.id, TailEnd::Newest, 1).await?;
        let seen = Some((term, last.into_iter().next_back().map(|entry| entry.id)));
        let before = std::mem::replace(&mut *lock(&link.last_seen), seen.clone());
        if before != seen {
            self.update_log(|log| log.lose_events());
        }
        Ok(())
    }
}

/// Follows the messages of other nodes until the room is dropped.
async fn follow_nodes(room: Weak<Room>, mut subscription: Subscription) {
    let mut tick = interval(TICK_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let delivery = tokio::select! {
            biased;
            delivery = subscription.next() => Some(delivery),
            _ = tick.tick() => None,
        };
        let Some(room) = room.upgrade() else { return };
        let Some(link) = &room.link else { return };
        match delivery {
            Some(Some(Delivery::Message(text))) => {
                if let Some(message) = NodeMessage::from_json(&text) {
                    room.on_node_message(link, message);
                }
            }
            Some(Some(Delivery::Gap)) => {
                link.silent_term.store(0, Ordering::Relaxed);
                room.endpoint.server.metrics.event_gaps.inc();
                room.update_log(|log| log.lose_events());
                room.send_to_nodes(&NodeMessage::PeersRequest);
            }
            // The bus has ended.
            Some(None) => return,
            None => room.on_tick(link).await,
        }
    }
}
