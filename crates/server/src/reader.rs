//! A number in, every event after it out, each once; a snapshot where events are missing.
//!
//! A reader holds nothing but its place: one that is slow costs nobody anything, and falls back to a snapshot when what it
//! has not read is gone.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use crate::event::{Numbered, PeerId};
use crate::log::Read;
use crate::room::{Room, Snapshot};

/// How many events are taken at a time.
const BATCH: usize = 64;

/// Somebody who reads a conversation.
pub(crate) struct Reader {
    pub(crate) room: Arc<Room>,
    /// Everything up to this number was read; nothing was, without one.
    after: Option<u64>,
    peer: Option<PeerId>,
    everything: bool,
    taken: VecDeque<Arc<Numbered>>,
    moved: watch::Receiver<u64>,
    ended: bool,
}

/// What a reader reads.
pub(crate) enum Line {
    /// What happened next.
    Event(Arc<Numbered>),
    /// All that happened so far, in place of events that are not to be had.
    Snapshot(Box<Snapshot>),
    /// The server ends.
    Goodbye,
}

impl Reader {
    pub(crate) fn new(room: Arc<Room>, after: Option<u64>, peer: Option<PeerId>) -> Self {
        room.live.app.metrics.connections.up();
        Self {
            moved: room.watch(),
            room,
            after,
            peer,
            everything: false,
            taken: VecDeque::new(),
            ended: false,
        }
    }

    /// Reads everything, whomever it is for: a conversation that somebody comes back to is theirs to read.
    pub(crate) fn whole(room: Arc<Room>, after: u64) -> Self {
        let mut reader = Self::new(room, Some(after), None);
        reader.everything = true;
        reader
    }

    /// Waits for the next line; nothing after the last one.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        loop {
            if self.ended {
                return None;
            }
            if let Some(event) = self.taken.pop_front() {
                self.after = Some(event.seq);
                if self.everything || event.is_for(self.peer.as_ref()) {
                    return Some(Line::Event(event));
                }
                continue;
            }
            // Before it is read, so that what comes between is not missed.
            self.moved.mark_unchanged();
            let read = match self.after {
                Some(after) => self.room.read(after, BATCH),
                None => Read::Gap,
            };
            match read {
                Read::Events(events) => self.taken.extend(events),
                Read::Gap => {
                    let Ok(snapshot) = self.room.snapshot().await else {
                        self.ended = true;
                        return None;
                    };
                    self.after = Some(snapshot.seq);
                    return Some(Line::Snapshot(Box::new(snapshot)));
                }
                Read::Nothing => {
                    tokio::select! {
                        moved = self.moved.changed() => self.ended = moved.is_err(),
                        () = self.room.live.app.ending.cancelled() => {
                            self.ended = true;
                            return Some(Line::Goodbye);
                        }
                    }
                }
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.room.live.app.metrics.connections.down();
    }
}
