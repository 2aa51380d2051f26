//! A subscriber of a conversation's events: each event after a sequence number once, or a snapshot where events were
//! evicted.
//!
//! A subscriber holds only a position, so that a slow one costs nothing and falls back to a snapshot.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use toolwright_conversation::PeerId;
use toolwright_conversation::event_log::LogRead;
use toolwright_conversation::logged_event::LoggedEvent;

use crate::conversation::room::{ConversationSnapshot, Room};

/// The number of events that are read from the log at a time.
const BATCH_SIZE: usize = 64;

/// A subscriber of a conversation.
pub(crate) struct Subscriber {
    pub(crate) room: Arc<Room>,
    /// The sequence number of the last event that the client has, before the first read.
    after: Option<u64>,
    /// The position of the next event in the log; `None` if a snapshot is needed first.
    position: Option<u64>,
    /// Events without a number before this position are included in the last snapshot.
    unnumbered_from: u64,
    peer: Option<PeerId>,
    /// The id of the conversation in snapshots; by default the owner's.
    client_id: Option<String>,
    ignores_recipient: bool,
    buffered: VecDeque<Arc<LoggedEvent>>,
    ended: bool,
}

/// What a subscriber receives.
pub(crate) enum Delivery {
    /// The next event.
    Event(Arc<LoggedEvent>),
    /// A snapshot, in place of events that were evicted.
    Snapshot(Box<ConversationSnapshot>),
    /// The server shuts down.
    Shutdown,
}

impl Subscriber {
    pub(crate) fn new(room: Arc<Room>, after: Option<u64>, peer: Option<PeerId>) -> Self {
        room.endpoint.server.metrics.subscribers.inc();
        room.log.add_reader();
        Self {
            after,
            position: None,
            unnumbered_from: 0,
            room,
            peer,
            client_id: None,
            ignores_recipient: false,
            buffered: VecDeque::new(),
            ended: false,
        }
    }

    /// Sets the id by which the client names the conversation.
    pub(crate) fn client_id(mut self, id: String) -> Self {
        self.client_id = Some(id);
        self
    }

    /// A subscriber that receives the events of every recipient: a client that reconnects to a turn has a new peer id.
    pub(crate) fn for_all_recipients(room: Arc<Room>, after: u64) -> Self {
        let mut subscriber = Self::new(room, Some(after), None);
        subscriber.ignores_recipient = true;
        subscriber
    }

    /// Waits for the next delivery; `None` after the last one.
    pub(crate) async fn next(&mut self) -> Option<Delivery> {
        loop {
            if self.ended {
                return None;
            }
            if let Some(event) = self.pop_buffered() {
                return Some(Delivery::Event(event));
            }
            match self.read_log() {
                LogRead::Events => {}
                LogRead::Gap => {
                    let Ok(mut snapshot) = self.room.snapshot().await else {
                        self.ended = true;
                        return None;
                    };
                    self.position = match snapshot.events_follow {
                        true => self.room.event_log().position_after(snapshot.seq),
                        // Its number may not be that of a position, if the numbers of the term are used up.
                        false => Some(snapshot.position),
                    };
                    self.unnumbered_from = snapshot.position;
                    if let Some(id) = &self.client_id {
                        snapshot.id.clone_from(id);
                    }
                    return Some(Delivery::Snapshot(Box::new(snapshot)));
                }
                LogRead::UpToDate => {
                    let room = Arc::clone(&self.room);
                    let mut changed = pin!(room.log.changed());
                    changed.as_mut().enable();
                    // An event in between is not missed.
                    if self.read_log() != LogRead::UpToDate {
                        continue;
                    }
                    tokio::select! {
                        // The events of a turn that has just ended come before the end of the stream.
                        biased;
                        () = changed => {}
                        () = self.room.endpoint.server.shutdown.cancelled() => {
                            self.ended = true;
                            return Some(Delivery::Shutdown);
                        }
                    }
                }
            }
        }
    }
}

impl Subscriber {
    /// Returns the next event if it is available; `None` if [`next`](Self::next) has to wait, or has something else.
    pub(crate) fn next_available(&mut self) -> Option<Arc<LoggedEvent>> {
        loop {
            if self.ended {
                return None;
            }
            if let Some(event) = self.pop_buffered() {
                return Some(event);
            }
            if self.read_log() != LogRead::Events {
                return None;
            }
        }
    }

    /// Takes the next buffered event that this subscriber receives.
    fn pop_buffered(&mut self) -> Option<Arc<LoggedEvent>> {
        while let Some(event) = self.buffered.pop_front() {
            if self.ignores_recipient || event.is_visible_to(self.peer.as_ref()) {
                return Some(event);
            }
        }
        None
    }

    /// Reads the next events of the log into the buffer.
    fn read_log(&mut self) -> LogRead {
        let log = self.room.event_log();
        if let Some(after) = self.after.take() {
            self.position = log.position_after(after);
        }
        let Some(begin) = self.position else {
            return LogRead::Gap;
        };
        let is_new =
            |position, event: &LoggedEvent| event.seq.is_some() || position >= self.unnumbered_from;
        let mut next = begin;
        let read = log.read_from(begin, BATCH_SIZE, |event| {
            if is_new(next, event) {
                self.buffered.push_back(Arc::clone(event));
            }
            next += 1;
        });
        self.position = Some(next);
        read
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.room.endpoint.server.metrics.subscribers.dec();
        self.room.log.remove_reader();
    }
}

#[cfg(test)]
mod tests {
    use toolwright::testing::FnModel;
    use toolwright_chat::{ChatEvent, Owner};
    use toolwright_core::{Invoker, Registry};

    use super::*;
    use crate::endpoint::path_template::ID_PARAM;
    use crate::server::ServerBuilder;

    fn publish(room: &Room, delta: &str) {
        room.log.publish(ChatEvent::Text { delta: delta.to_owned() }, None);
    }

    async fn is_event(subscriber: &mut Subscriber) -> bool {
        match subscriber.next().await.unwrap() {
            Delivery::Event(_) => true,
            Delivery::Snapshot(_) => false,
            Delivery::Shutdown => panic!("it does not shut down"),
        }
    }

    #[tokio::test]
    async fn a_client_that_reconnects_when_the_numbers_of_a_term_are_used_up_reads_one_snapshot() {
        let tools = Invoker::new(Registry::new()).unwrap();
        let server = ServerBuilder::new(tools, FnModel::echo()).mount_all().build().unwrap();
        let params = vec![(ID_PARAM.to_owned(), "a".to_owned())];
        let room = server.endpoints[0].open_room(params, &Owner::Operator).unwrap();
        room.log.update(|log| {
            log.begin_term(1);
            log.use_numbers_but(1);
        });
        let mut connected = Subscriber::new(Arc::clone(&room), None, None);
        assert!(!is_event(&mut connected).await);
        for delta in ["a", "b", "c"] {
            publish(&room, delta);
            assert!(is_event(&mut connected).await);
        }
        let newest = room.event_log().newest_seq();
        let mut reconnected = Subscriber::new(Arc::clone(&room), Some(newest), None);
        assert!(!is_event(&mut reconnected).await);
        publish(&room, "d");
        assert!(is_event(&mut reconnected).await && is_event(&mut connected).await);
    }
}
