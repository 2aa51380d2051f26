//! Reads the events of a log, each after a sequence number once.
//!
//! A reader holds only a position, so that a slow one costs nothing and falls back to a snapshot.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use crate::event::PeerId;
use crate::event_log::LogRead;
use crate::logged_event::LoggedEvent;
use crate::shared_log::SharedLog;

/// The number of events that are read from the log at a time.
const BATCH_SIZE: usize = 64;

/// A reader of a conversation's events.
pub struct LogReader {
    log: Arc<SharedLog>,
    /// The sequence number of the last event that the client has, before the first read.
    after: Option<u64>,
    /// The position of the next event in the log; `None` if a snapshot is needed first.
    position: Option<u64>,
    /// Events without a number before this position are included in the last snapshot.
    unnumbered_from: u64,
    recipient: Recipient,
    buffered: VecDeque<Arc<LoggedEvent>>,
}

/// Which events a reader receives.
enum Recipient {
    /// Those for everybody, and those for this peer.
    Peer(Option<PeerId>),
    All,
}

impl LogReader {
    /// Reads the events after a sequence number that everybody receives, or this peer.
    pub fn new(log: Arc<SharedLog>, after: Option<u64>, peer: Option<PeerId>) -> Self {
        Self::for_recipient(log, after, Recipient::Peer(peer))
    }

    /// Reads the events of every recipient: a client that reconnects to a turn has a new peer id.
    pub fn for_all_recipients(log: Arc<SharedLog>, after: u64) -> Self {
        Self::for_recipient(log, Some(after), Recipient::All)
    }

    fn for_recipient(log: Arc<SharedLog>, after: Option<u64>, recipient: Recipient) -> Self {
        log.add_reader();
        let buffered = VecDeque::new();
        Self { log, after, position: None, unnumbered_from: 0, recipient, buffered }
    }

    /// Waits for the next event; `None` if a snapshot is needed first, because events were evicted.
    pub async fn next(&mut self) -> Option<Arc<LoggedEvent>> {
        loop {
            if let Some(event) = self.pop_buffered() {
                return Some(event);
            }
            match self.read() {
                LogRead::Events => {}
                LogRead::Gap => return None,
                LogRead::UpToDate => {
                    let log = Arc::clone(&self.log);
                    let mut changed = pin!(log.changed());
                    changed.as_mut().enable();
                    // An event in between is not missed.
                    if self.read() == LogRead::UpToDate {
                        changed.await;
                    }
                }
            }
        }
    }

    /// Returns the next event if it is available; `None` if [`next`](Self::next) has to wait, or needs a snapshot.
    pub fn next_available(&mut self) -> Option<Arc<LoggedEvent>> {
        loop {
            if let Some(event) = self.pop_buffered() {
                return Some(event);
            }
            if self.read() != LogRead::Events {
                return None;
            }
        }
    }

    /// Goes on after a snapshot that was taken before the event at `position`. Where the events of its turn are not included, they
    /// follow from the number `events_after` on.
    pub fn go_on_after_snapshot(&mut self, position: u64, events_after: Option<u64>) {
        self.position = match events_after {
            Some(seq) => self.log.lock().position_after(seq),
            // Its number may not be that of a position, if the numbers of the term are used up.
            None => Some(position),
        };
        self.unnumbered_from = position;
    }

    /// Takes the next buffered event that this reader receives.
    fn pop_buffered(&mut self) -> Option<Arc<LoggedEvent>> {
        while let Some(event) = self.buffered.pop_front() {
            let is_received = match &self.recipient {
                Recipient::All => true,
                Recipient::Peer(peer) => event.is_visible_to(peer.as_ref()),
            };
            if is_received {
                return Some(event);
            }
        }
        None
    }

    /// Reads the next events of the log into the buffer.
    fn read(&mut self) -> LogRead {
        let log = self.log.lock();
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

impl Drop for LogReader {
    fn drop(&mut self) {
        self.log.remove_reader();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use toolwright_chat::ChatEvent;

    use super::*;

    fn publish(log: &SharedLog, delta: &str, to: Option<&str>) {
        let delta = delta.to_owned();
        log.publish(ChatEvent::Text { delta }, to.map(PeerId::from));
    }

    /// The text of the next event; `None` if a snapshot is needed, or nothing is available.
    fn next(reader: &mut LogReader) -> Option<Vec<u8>> {
        reader.next().now_or_never().flatten().map(|event| event.json())
    }

    #[test]
    fn a_reader_goes_on_after_its_snapshot_and_receives_what_is_for_it() {
        let log = Arc::new(SharedLog::new(None));
        log.lock().settle(2);
        let _publisher = log.begin_term(3);
        publish(&log, "old", None);
        let mut reader = LogReader::new(Arc::clone(&log), None, Some("me".into()));
        assert!(log.has_readers());
        assert_eq!(reader.next().now_or_never().map(|event| event.is_none()), Some(true), "a gap");
        let position = log.lock().next_position();
        reader.go_on_after_snapshot(position, None);
        assert!(reader.next().now_or_never().is_none(), "up to date");
        publish(&log, "for another", Some("you"));
        publish(&log, "for me", Some("me"));
        assert!(String::from_utf8(next(&mut reader).unwrap()).unwrap().contains("for me"));
        let newest = log.lock().newest_seq();
        let mut all = LogReader::for_all_recipients(Arc::clone(&log), newest - 2);
        assert!(String::from_utf8(next(&mut all).unwrap()).unwrap().contains("for another"));
        drop((reader, all));
        assert!(!log.has_readers());
    }
}
