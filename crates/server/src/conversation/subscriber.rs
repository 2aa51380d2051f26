//! A subscriber of a conversation's events: each event after a sequence number once, or a snapshot where events were
//! evicted.
//!
//! A subscriber holds only a position, so that a slow one costs nothing and falls back to a snapshot.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use crate::conversation::event::{PeerId, SequencedEvent};
use crate::conversation::event_log::LogRead;
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
    ignores_recipient: bool,
    buffered: VecDeque<Arc<SequencedEvent>>,
    next_position: watch::Receiver<u64>,
    ended: bool,
}

/// What a subscriber receives.
pub(crate) enum Delivery {
    /// The next event.
    Event(Arc<SequencedEvent>),
    /// A snapshot, in place of events that were evicted.
    Snapshot(Box<ConversationSnapshot>),
    /// The server shuts down.
    Shutdown,
}

impl Subscriber {
    pub(crate) fn new(room: Arc<Room>, after: Option<u64>, peer: Option<PeerId>) -> Self {
        room.endpoint.server.metrics.subscribers.inc();
        Self {
            next_position: room.watch_position(),
            after,
            position: None,
            unnumbered_from: 0,
            room,
            peer,
            ignores_recipient: false,
            buffered: VecDeque::new(),
            ended: false,
        }
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
            if let Some(event) = self.buffered.pop_front() {
                if self.ignores_recipient || event.is_visible_to(self.peer.as_ref()) {
                    return Some(Delivery::Event(event));
                }
                continue;
            }
            // Before reading, so that an event in between is not missed.
            self.next_position.mark_unchanged();
            if let Some(after) = self.after.take() {
                self.position = self.room.event_log().position_after(after);
            }
            let read = match self.position {
                Some(position) => self.room.event_log().events_from(position, BATCH_SIZE),
                None => LogRead::Gap,
            };
            match read {
                LogRead::Events(events) => {
                    let begin = self.position.unwrap_or_default();
                    let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
                    self.position = Some(begin + count);
                    let new = (begin..).zip(events).filter(|(position, event)| {
                        event.seq.is_some() || *position >= self.unnumbered_from
                    });
                    self.buffered.extend(new.map(|(_, event)| event));
                }
                LogRead::Gap => {
                    let Ok(snapshot) = self.room.snapshot().await else {
                        self.ended = true;
                        return None;
                    };
                    self.position = self.room.event_log().position_after(snapshot.seq);
                    self.unnumbered_from = snapshot.position;
                    return Some(Delivery::Snapshot(Box::new(snapshot)));
                }
                LogRead::UpToDate => {
                    tokio::select! {
                        moved = self.next_position.changed() => self.ended = moved.is_err(),
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

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.room.endpoint.server.metrics.subscribers.dec();
    }
}
