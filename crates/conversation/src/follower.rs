//! Follows the event log of the node that holds the lease of a conversation: appends its events, requests its state where some are
//! missing, and notices what the bus does not report.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use toolwright_chat::{LeaseStatus, Store, StoreError, TailEnd, random_hex};

use crate::event_log::{EventSource, RemoteAppend};
use crate::node_message::NodeMessage;
use crate::shared_log::{NodeChannel, SharedLog};

/// How long to wait for the state of the node that holds the lease.
const STATE_TIMEOUT: Duration = Duration::from_secs(2);

/// While no turn runs, the lease is compared with every so many ticks.
const TICKS_PER_TERM_CHECK: u64 = 2;

/// What a follower has to know about its node, and reports to it.
pub trait FollowingNode: Send + Sync {
    /// Returns true if a holder of a lease is this node.
    fn is_own_lease(&self, holder: &str) -> bool;

    /// An event of another node has arrived, which was published at this time.
    fn on_remote_event(&self, at: u64);

    /// Events of another node are missing.
    fn on_gap(&self);
}

/// Brings the event log of this node up to date with that of the node that holds the lease.
pub struct Follower {
    log: Arc<SharedLog>,
    store: Arc<dyn Store>,
    conversation: String,
    node: Arc<dyn FollowingNode>,
    /// Locked while the state of the holder is requested.
    syncing: tokio::sync::Mutex<()>,
    /// The number of such requests so far.
    begun_syncs: AtomicU64,
    /// The requests for the state of the holder, by their id.
    state_requests: Mutex<HashMap<String, oneshot::Sender<()>>>,
    /// The term whose holder has not responded.
    silent_term: AtomicU64,
    seen: Mutex<Seen>,
}

/// What the last tick has seen.
#[derive(Default)]
struct Seen {
    /// The number of ticks so far.
    ticks: u64,
    newest_seq: u64,
    /// The term that the store had when it was last compared.
    stored_term: u64,
    /// The term and the last entry, while the bus is away.
    journal_end: Option<(u64, Option<String>)>,
}

impl Follower {
    pub fn new(
        log: Arc<SharedLog>,
        store: Arc<dyn Store>,
        conversation: &str,
        node: Arc<dyn FollowingNode>,
    ) -> Self {
        Self {
            log,
            store,
            conversation: conversation.to_owned(),
            node,
            syncing: tokio::sync::Mutex::default(),
            begun_syncs: AtomicU64::new(0),
            state_requests: Mutex::default(),
            silent_term: AtomicU64::new(0),
            seen: Mutex::default(),
        }
    }

    /// Brings the log up to date with the node that holds the lease, and returns the term of the store.
    ///
    /// Afterwards the log has everything that was published before, or is marked as incomplete if that node does not respond.
    pub async fn sync(&self) -> Result<u64, StoreError> {
        let status = self.store.lease_status(&self.conversation).await?;
        let term = status.term;
        if self.log.lock().source() == EventSource::Own {
            return Ok(term);
        }
        let Some(holder) = status.holder else {
            self.on_free_lease(&status);
            return Ok(term);
        };
        if self.node.is_own_lease(&holder) {
            // A worker is about to begin its term, or a deletion has the lease.
            return Ok(term);
        }
        let is_silent = || self.silent_term.load(Ordering::Relaxed) == term;
        if !is_silent() && self.is_connected() {
            let begun_before = self.begun_syncs.load(Ordering::Relaxed);
            let _in_turn = self.syncing.lock().await;
            // One that began after this call is over: many subscribers that see the same gap share it.
            if self.begun_syncs.load(Ordering::Relaxed) > begun_before && !is_silent() {
                return Ok(term);
            }
            self.begun_syncs.fetch_add(1, Ordering::Relaxed);
            if self.request_state(holder).await? {
                return Ok(term);
            }
            self.silent_term.store(term, Ordering::Relaxed);
        }
        self.log.update(|log| log.mark_incomplete());
        Ok(term)
    }

    /// Requests the state of the holder; returns false if it does not respond.
    async fn request_state(&self, holder: String) -> Result<bool, StoreError> {
        let request = random_hex(8)?;
        let (sender, received) = oneshot::channel();
        lock(&self.state_requests).insert(request.clone(), sender);
        self.log.send_to_nodes(&NodeMessage::StateRequest { request: request.clone(), holder });
        let outcome = timeout(STATE_TIMEOUT, received).await;
        lock(&self.state_requests).remove(&request);
        Ok(outcome.is_ok())
    }

    fn is_connected(&self) -> bool {
        self.log.nodes().is_some_and(NodeChannel::is_connected)
    }

    /// Carries out a message about the log of the holder; returns a message about something else.
    pub fn on_message(&self, message: NodeMessage) -> Option<NodeMessage> {
        match message {
            NodeMessage::Event(event) => {
                self.node.on_remote_event(event.at);
                let appended = self.log.update(|log| log.append_remote(*event));
                self.lose_events_if_gap(appended);
            }
            NodeMessage::TurnBegan { turn } => {
                let began = self.log.update(|log| log.begin_remote_turn(turn));
                self.lose_events_if_gap(began);
            }
            NodeMessage::StateRequest { request, holder } => {
                if self.node.is_own_lease(&holder) {
                    let log = self.log.lock();
                    let state = log.state().map(Box::new);
                    // Before the next event is published.
                    self.log.send_to_nodes(&NodeMessage::State { request, state });
                }
            }
            NodeMessage::State { request, state } => {
                let sender = lock(&self.state_requests).remove(&request)?;
                match state {
                    Some(state) => self.log.update(|log| log.apply_state(*state)),
                    // It was released meanwhile, and its end is in the journal.
                    None => self.log.update(|log| log.settle_current_term()),
                }
                // The request may have timed out.
                let _ = sender.send(());
            }
            other => return Some(other),
        }
        None
    }

    /// Messages of the bus may be missing.
    pub fn on_missed_messages(&self) {
        self.silent_term.store(0, Ordering::Relaxed);
        self.node.on_gap();
        self.log.update(|log| log.lose_events());
    }

    /// Where events are missing, every subscriber reads a snapshot, which requests the state of the holder.
    fn lose_events_if_gap(&self, appended: RemoteAppend) {
        let is_requested = !lock(&self.state_requests).is_empty();
        if appended == RemoteAppend::Gap && !is_requested {
            self.on_missed_messages();
        }
    }

    /// Notices what the bus has not reported, while somebody reads the log.
    pub async fn on_tick(&self) -> Result<(), StoreError> {
        let is_connected = self.is_connected();
        if is_connected || !self.log.has_readers() {
            lock(&self.seen).journal_end = None;
        }
        match (self.log.has_readers(), is_connected) {
            (false, _) => Ok(()),
            (true, true) => self.check_holder().await,
            (true, false) => self.poll_journal().await,
        }
    }

    /// Notices what the bus does not report while it is connected.
    async fn check_holder(&self) -> Result<(), StoreError> {
        let (source, newest_seq) = {
            let log = self.log.lock();
            (log.source(), log.newest_seq())
        };
        let (is_silent, checks_term) = {
            let mut seen = lock(&self.seen);
            let checks_term = seen.ticks.is_multiple_of(TICKS_PER_TERM_CHECK);
            seen.ticks += 1;
            (std::mem::replace(&mut seen.newest_seq, newest_seq) == newest_seq, checks_term)
        };
        match source {
            EventSource::OtherNode | EventSource::Incomplete if is_silent => {
                self.check_silent_holder().await
            }
            EventSource::Expired => self.check_silent_holder().await,
            EventSource::Settled if checks_term => self.check_missed_term().await,
            _ => Ok(()),
        }
    }

    /// Notices that another node has had the lease and none of its messages have arrived, as those that the bus refuses.
    async fn check_missed_term(&self) -> Result<(), StoreError> {
        let term = self.store.lease_status(&self.conversation).await?.term;
        // That of the check before: messages of a term that has just begun may be on their way.
        let before = std::mem::replace(&mut lock(&self.seen).stored_term, term);
        if before > 0 {
            self.log.update(|log| log.lose_events_before_term(before));
        }
        Ok(())
    }

    /// Notices that the node whose events are followed does not hold the lease any more: one that is killed sends no end.
    async fn check_silent_holder(&self) -> Result<(), StoreError> {
        let status = self.store.lease_status(&self.conversation).await?;
        match status.holder {
            None => self.on_free_lease(&status),
            Some(_) => self.log.update(|log| log.lose_events_before_term(status.term)),
        }
        Ok(())
    }

    /// No node holds the lease: the last one has released it, or has not renewed it in time.
    fn on_free_lease(&self, status: &LeaseStatus) {
        self.log.update(|log| match status.is_expired {
            true => log.expire(status.term),
            false => log.settle(status.term),
        });
    }

    /// While the bus is away, has subscribers read a snapshot when another node has written to the journal.
    async fn poll_journal(&self) -> Result<(), StoreError> {
        if self.log.lock().source() == EventSource::Own {
            return Ok(());
        }
        let term = self.store.lease_status(&self.conversation).await?.term;
        let last = self.store.tail(&self.conversation, TailEnd::Newest, 1).await?;
        let end = Some((term, last.into_iter().next_back().map(|entry| entry.id)));
        let before = std::mem::replace(&mut lock(&self.seen).journal_end, end.clone());
        if before != end {
            self.log.update(|log| log.lose_events());
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
