//! A number in, every event after it out, each once; a snapshot where events are missing.
//!
//! A reader holds nothing but its place: one that is slow costs nobody anything, and falls back to a snapshot when what it
//! has not read is gone.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use crate::conversation::event::{PeerId, SequencedEvent};
use crate::conversation::event_log::LogRead;
use crate::conversation::room::{ConversationSnapshot, Room};

/// How many events are taken at a time.
const BATCH_SIZE: usize = 64;

/// Somebody who reads a conversation.
pub(crate) struct Subscriber {
    pub(crate) room: Arc<Room>,
    /// Everything up to this number was read; nothing was, without one.
    after: Option<u64>,
    peer: Option<PeerId>,
    ignores_recipient: bool,
    buffered: VecDeque<Arc<SequencedEvent>>,
    newest_seq: watch::Receiver<u64>,
    ended: bool,
}

/// What a reader reads.
pub(crate) enum Delivery {
    /// What happened next.
    Event(Arc<SequencedEvent>),
    /// All that happened so far, in place of events that are not to be had.
    Snapshot(Box<ConversationSnapshot>),
    /// The server ends.
    Shutdown,
}

impl Subscriber {
    pub(crate) fn new(room: Arc<Room>, after: Option<u64>, peer: Option<PeerId>) -> Self {
        room.endpoint.server.metrics.subscribers.increment();
        Self {
            newest_seq: room.watch_newest_seq(),
            room,
            after,
            peer,
            ignores_recipient: false,
            buffered: VecDeque::new(),
            ended: false,
        }
    }

    /// Reads everything, whomever it is for: a conversation that somebody comes back to is theirs to read.
    pub(crate) fn for_all_recipients(room: Arc<Room>, after: u64) -> Self {
        let mut subscriber = Self::new(room, Some(after), None);
        subscriber.ignores_recipient = true;
        subscriber
    }

    /// Waits for the next line; nothing after the last one.
    pub(crate) async fn next(&mut self) -> Option<Delivery> {
        loop {
            if self.ended {
                return None;
            }
            if let Some(event) = self.buffered.pop_front() {
                self.after = Some(event.seq);
                if self.ignores_recipient || event.is_visible_to(self.peer.as_ref()) {
                    return Some(Delivery::Event(event));
                }
                continue;
            }
            // Before it is read, so that what comes between is not missed.
            self.newest_seq.mark_unchanged();
            let read = match self.after {
                Some(after) => self.room.events_after(after, BATCH_SIZE),
                None => LogRead::Gap,
            };
            match read {
                LogRead::Events(events) => self.buffered.extend(events),
                LogRead::Gap => {
                    let Ok(snapshot) = self.room.snapshot().await else {
                        self.ended = true;
                        return None;
                    };
                    self.after = Some(snapshot.seq);
                    return Some(Delivery::Snapshot(Box::new(snapshot)));
                }
                LogRead::UpToDate => {
                    tokio::select! {
                        moved = self.newest_seq.changed() => self.ended = moved.is_err(),
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
        self.room.endpoint.server.metrics.subscribers.decrement();
    }
}
