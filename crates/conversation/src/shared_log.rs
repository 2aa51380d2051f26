//! What a conversation publishes: its event log, those that read it at this node, and the nodes that follow it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use toolwright_bus::{Bus, BusError, Subscription};

use crate::event::{ConversationEvent, EndpointEvent, PeerId};
use crate::event_log::EventLog;
use crate::node_message::NodeMessage;

/// The event log of a conversation at this node.
pub struct SharedLog {
    log: Mutex<EventLog>,
    changed: Notify,
    reader_count: AtomicUsize,
    /// The other nodes; `None` if there are none.
    nodes: Option<NodeChannel>,
}

/// The channel of a conversation between nodes.
pub struct NodeChannel {
    bus: Arc<dyn Bus>,
    name: String,
}

/// Publishes events of a turn, until the lease that the turn runs under is lost.
#[derive(Clone)]
pub struct Publisher {
    log: Arc<SharedLog>,
    /// `None` if the events belong to no turn.
    term: Option<u64>,
}

impl SharedLog {
    pub fn new(nodes: Option<NodeChannel>) -> Self {
        Self {
            log: Mutex::new(EventLog::new()),
            changed: Notify::new(),
            reader_count: AtomicUsize::new(0),
            nodes,
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, EventLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the log, and wakes its readers.
    pub fn update<T>(&self, change: impl FnOnce(&mut EventLog) -> T) -> T {
        let mut log = self.lock();
        let result = change(&mut log);
        drop(log);
        self.changed.notify_waiters();
        result
    }

    /// Resolves when the log has changed.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Publishes an event that belongs to no turn to all readers, or to one peer.
    pub fn publish(&self, event: impl Into<ConversationEvent>, to: Option<PeerId>) {
        let event = event.into();
        self.update(|log| self.append(log, event, to));
    }

    /// A publisher of events that belong to no turn.
    pub fn publisher(self: &Arc<Self>) -> Publisher {
        Publisher { log: Arc::clone(self), term: None }
    }

    fn append(&self, log: &mut EventLog, event: ConversationEvent, to: Option<PeerId>) {
        let is_local = matches!(
            event,
            ConversationEvent::Endpoint(
                EndpointEvent::Peers { .. } | EndpointEvent::Shutdown { .. }
            )
        );
        let logged = log.append(event, to);
        // Under the lock of the log, so that the messages are in the order of the events.
        if self.nodes.is_some() && !is_local {
            self.send_to_nodes(&NodeMessage::Event(Box::new(logged.to_wire())));
        }
    }

    /// Numbers events with the term of a lease that was acquired, from now on.
    pub fn begin_term(self: &Arc<Self>, term: u64) -> Publisher {
        self.update(|log| {
            let before = log.begin_term(term);
            self.send_to_nodes(&NodeMessage::TermBegan { term, before });
        });
        Publisher { log: Arc::clone(self), term: Some(term) }
    }

    /// Stops to number events, and tells the other nodes.
    ///
    /// If a turn was interrupted, the step that it was in is repeated, by any node: nothing of the turn is published any more, and
    /// the readers of all nodes read a snapshot.
    pub fn end_term(&self, is_interrupted: bool) {
        self.update(|log| {
            if let Some(term) = log.end_term() {
                let newest_seq = log.newest_seq();
                self.send_to_nodes(&NodeMessage::TermEnded { term, newest_seq, is_interrupted });
                if is_interrupted {
                    log.lose_term();
                }
            }
            match self.nodes {
                Some(_) if is_interrupted => log.lose_events(),
                // The error that interrupted it is delivered first.
                None if is_interrupted => log.mark_interrupted(),
                _ => {}
            }
        });
    }

    /// Begins a turn; returns the number before its first event. `entry_before` is the newest entry of the journal.
    pub fn begin_turn(&self, entry_before: Option<String>, is_new_answer: bool) -> u64 {
        self.update(|log| {
            let after = log.begin_turn(entry_before, is_new_answer);
            self.send_to_nodes(&NodeMessage::TurnBegan { turn: log.turn().clone() });
            after
        })
    }

    /// Sends a message to the other nodes, if there are any.
    pub fn send_to_nodes(&self, message: &NodeMessage) {
        if let Some(nodes) = &self.nodes {
            nodes.send(message);
        }
    }

    /// The channel to the other nodes; `None` if there are none.
    pub fn nodes(&self) -> Option<&NodeChannel> {
        self.nodes.as_ref()
    }

    /// Returns true if a client of this node reads the events.
    pub fn has_readers(&self) -> bool {
        self.reader_count.load(Ordering::Relaxed) > 0
    }

    pub fn add_reader(&self) {
        self.reader_count.fetch_add(1, Ordering::Relaxed);
    }

    pub fn remove_reader(&self) {
        self.reader_count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Publisher {
    /// Publishes an event to all readers, or to one peer, unless the lease is lost: then another node goes on with the turn.
    pub fn publish(&self, event: impl Into<ConversationEvent>, to: Option<PeerId>) {
        let event = event.into();
        self.log.update(|log| {
            if !self.term.is_some_and(|term| log.has_lost(term)) {
                self.log.append(log, event, to);
            }
        });
    }
}

impl NodeChannel {
    pub fn new(bus: Arc<dyn Bus>, conversation: &str) -> Self {
        Self { bus, name: format!("room {conversation}") }
    }

    pub fn send(&self, message: &NodeMessage) {
        self.bus.publish(&self.name, message.to_json());
    }

    /// Receives the messages of other nodes from now on.
    pub async fn subscribe(&self) -> Result<Subscription, BusError> {
        self.bus.subscribe(&self.name).await
    }

    pub fn is_connected(&self) -> bool {
        self.bus.status().is_connected()
    }
}

#[cfg(test)]
mod tests {
    use toolwright_chat::ChatEvent;

    use super::*;

    fn text(delta: &str) -> ChatEvent {
        ChatEvent::Text { delta: delta.to_owned() }
    }

    fn newest_seq(log: &SharedLog) -> u64 {
        log.lock().newest_seq()
    }

    fn event_count(log: &SharedLog) -> u64 {
        log.lock().next_position()
    }

    #[test]
    fn nothing_of_a_turn_is_published_after_its_lease_is_lost() {
        let log = Arc::new(SharedLog::new(None));
        log.lock().settle(2);
        let publisher = log.begin_term(3);
        publisher.publish(text("a"), None);
        let published = event_count(&log);
        log.end_term(true);
        publisher.publish(text("b"), None);
        assert_eq!(event_count(&log), published);
        // Another node was faster than the message that this one has lost it.
        let publisher = log.begin_term(5);
        log.update(|log| log.on_remote_term(6, None));
        let published = event_count(&log);
        publisher.publish(text("c"), None);
        assert_eq!(event_count(&log), published);
        let next = log.begin_term(7);
        next.publish(text("d"), None);
        assert_eq!(newest_seq(&log), (7 << 20) + 1);
        publisher.publish(text("e"), None);
        assert_eq!(newest_seq(&log), (7 << 20) + 1);
    }

    #[test]
    fn what_is_published_after_a_turn_has_no_number() {
        let log = Arc::new(SharedLog::new(None));
        log.lock().settle(2);
        let publisher = log.begin_term(3);
        log.end_term(false);
        let (newest, published) = (newest_seq(&log), event_count(&log));
        publisher.publish(text("a"), None);
        assert_eq!((newest_seq(&log), event_count(&log)), (newest, published + 1));
    }
}
