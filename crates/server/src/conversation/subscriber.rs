//! A subscriber of a conversation: its events, and a snapshot where some were evicted.

use std::sync::Arc;

use toolwright_conversation::PeerId;
use toolwright_conversation::log_reader::LogReader;
use toolwright_conversation::logged_event::LoggedEvent;

use crate::conversation::room::{ConversationSnapshot, Room};

/// A subscriber of a conversation.
pub(crate) struct Subscriber {
    pub(crate) room: Arc<Room>,
    reader: LogReader,
    /// The id of the conversation in snapshots; by default the owner's.
    client_id: Option<String>,
    has_ended: bool,
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
        let reader = LogReader::new(Arc::clone(&room.log), after, peer);
        Self::with_reader(room, reader)
    }

    /// A subscriber that receives the events of every recipient: a client that reconnects to a turn has a new peer id.
    pub(crate) fn for_all_recipients(room: Arc<Room>, after: u64) -> Self {
        let reader = LogReader::for_all_recipients(Arc::clone(&room.log), after);
        Self::with_reader(room, reader)
    }

    fn with_reader(room: Arc<Room>, reader: LogReader) -> Self {
        room.endpoint.server.metrics.subscribers.inc();
        Self { room, reader, client_id: None, has_ended: false }
    }

    /// Sets the id by which the client names the conversation.
    pub(crate) fn client_id(mut self, id: String) -> Self {
        self.client_id = Some(id);
        self
    }

    /// Waits for the next delivery; `None` after the last one.
    pub(crate) async fn next(&mut self) -> Option<Delivery> {
        if self.has_ended {
            return None;
        }
        let event = tokio::select! {
            // The events of a turn that has just ended come before the end of the stream.
            biased;
            event = self.reader.next() => event,
            () = self.room.endpoint.server.shutdown.cancelled() => {
                self.has_ended = true;
                return Some(Delivery::Shutdown);
            }
        };
        if let Some(event) = event {
            return Some(Delivery::Event(event));
        }
        let Ok(mut snapshot) = self.room.snapshot().await else {
            self.has_ended = true;
            return None;
        };
        let events_after = snapshot.events_follow.then_some(snapshot.seq);
        self.reader.go_on_after_snapshot(snapshot.position, events_after);
        if let Some(id) = &self.client_id {
            snapshot.id.clone_from(id);
        }
        Some(Delivery::Snapshot(Box::new(snapshot)))
    }

    /// Returns the next event if it is available; `None` if [`next`](Self::next) has to wait, or has something else.
    pub(crate) fn next_available(&mut self) -> Option<Arc<LoggedEvent>> {
        self.reader.next_available().filter(|_| !self.has_ended)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.room.endpoint.server.metrics.subscribers.dec();
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
