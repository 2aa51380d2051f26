//! The queue of messages that wait to be sent: bounded, and the oldest are dropped.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::bus::{BusStatus, MAX_MESSAGE_BYTES};
use crate::channel_key::{ChannelKey, ChannelSet};

/// The number of messages that wait to be sent; when there are more, the oldest are dropped.
pub(crate) const MAX_QUEUED: usize = 16_384;

/// The bytes of the messages that wait to be sent; when there are more, the oldest are dropped.
const MAX_QUEUED_BYTES: usize = 32 << 20;

/// Something to be sent.
#[derive(PartialEq, Debug)]
pub(crate) enum Outgoing {
    Message {
        key: ChannelKey,
        text: String,
    },
    /// Messages to this channel were lost.
    Gap(ChannelKey),
    /// Messages to any channel may have been lost.
    GapOfAll,
}

/// The messages of a node that wait to be sent. Callers that publish never wait.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
    changed: Notify,
    /// Notified when a batch was sent.
    sent: Notify,
}

#[derive(Default)]
struct OutboxState {
    queue: VecDeque<Outgoing>,
    bytes: usize,
    /// The channels whose subscriptions have to be sent a gap before anything else.
    lost: ChannelSet,
    dropped: u64,
    /// True while a batch that was taken is being sent.
    is_sending: bool,
    closed: bool,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message; drops the oldest ones if there are too many.
    pub(crate) fn push(&self, key: ChannelKey, text: String) {
        let mut state = self.state();
        if text.len() > MAX_MESSAGE_BYTES {
            tracing::warn!(
                bytes = text.len(),
                "a message is too large for the bus, and is dropped"
            );
            state.dropped += 1;
            state.queue.push_back(Outgoing::Gap(key));
        } else {
            state.bytes += text.len();
            state.queue.push_back(Outgoing::Message { key, text });
        }
        while state.queue.len() > MAX_QUEUED || state.bytes > MAX_QUEUED_BYTES {
            let Some(oldest) = state.pop() else { break };
            state.add_lost(oldest);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits until there is something to be sent; false if there is nothing, and the bus was dropped. The batch that was taken
    /// before is sent then.
    pub(crate) async fn wait(&self) -> bool {
        self.state().is_sending = false;
        self.sent.notify_waiters();
        loop {
            {
                let state = self.state();
                if !state.queue.is_empty() || !state.lost.is_empty() {
                    return true;
                }
                if state.closed {
                    return false;
                }
            }
            self.changed.notified().await;
        }
    }

    /// Takes the oldest messages, up to a number and a size; one at least, if there is one. The channels that have lost messages
    /// come first.
    pub(crate) fn take(&self, max_messages: usize, max_bytes: usize) -> Vec<Outgoing> {
        let mut state = self.state();
        let lost = std::mem::take(&mut state.lost);
        let mut batch: Vec<Outgoing> = match lost.is_all() {
            true => vec![Outgoing::GapOfAll],
            false => lost.into_keys().map(Outgoing::Gap).collect(),
        };
        let mut bytes = 0;
        while batch.len() < max_messages
            && bytes < max_bytes
            && let Some(oldest) = state.pop()
        {
            bytes += size(&oldest);
            batch.push(oldest);
        }
        state.is_sending = true;
        batch
    }

    /// Waits until everything is sent.
    pub(crate) async fn wait_until_sent(&self) {
        loop {
            let sent = self.sent.notified();
            let is_sent = {
                let state = self.state();
                state.queue.is_empty() && state.lost.is_empty() && !state.is_sending
            };
            if is_sent {
                return;
            }
            sent.await;
        }
    }

    /// Counts messages that could not be sent as dropped, and queues gaps for their channels.
    pub(crate) fn add_lost(&self, batch: Vec<Outgoing>) {
        let mut state = self.state();
        batch.into_iter().for_each(|outgoing| state.add_lost(outgoing));
        drop(state);
        self.changed.notify_one();
    }

    /// Queues gaps for channels whose messages may have been lost on their way.
    #[cfg(feature = "nats")]
    pub(crate) fn add_gaps(&self, channels: ChannelSet) {
        self.state().lost.extend(channels);
        self.changed.notify_one();
    }

    /// Ends the queue: [`wait`](Self::wait) returns false when everything was sent.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// The state of the bus with this queue.
    pub(crate) fn status(&self, error: Option<String>) -> BusStatus {
        let state = self.state();
        BusStatus { error, queued: state.queue.len(), dropped: state.dropped, refused: 0 }
    }
}

impl OutboxState {
    fn pop(&mut self) -> Option<Outgoing> {
        let oldest = self.queue.pop_front()?;
        self.bytes -= size(&oldest);
        Some(oldest)
    }

    fn add_lost(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Message { key, .. } => {
                self.dropped += 1;
                self.lost.insert(key);
            }
            Outgoing::Gap(key) => self.lost.insert(key),
            Outgoing::GapOfAll => self.lost.insert_all(),
        }
    }
}

fn size(outgoing: &Outgoing) -> usize {
    match outgoing {
        Outgoing::Message { text, .. } => text.len(),
        Outgoing::Gap(_) | Outgoing::GapOfAll => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(room: &str, text: impl Into<String>) -> Outgoing {
        Outgoing::Message { key: ChannelKey::of(room), text: text.into() }
    }

    fn gap(room: &str) -> Outgoing {
        Outgoing::Gap(ChannelKey::of(room))
    }

    fn push(outbox: &Outbox, room: &str, text: impl Into<String>) {
        outbox.push(ChannelKey::of(room), text.into());
    }

    #[test]
    fn the_oldest_messages_are_dropped_counted_and_reported_as_gaps() {
        let outbox = Outbox::default();
        push(&outbox, "old", "1");
        push(&outbox, "old", "2");
        for n in 0..MAX_QUEUED {
            push(&outbox, "new", n.to_string());
        }
        let status = outbox.status(None);
        assert_eq!((status.queued, status.dropped), (MAX_QUEUED, 2));
        assert_eq!(outbox.take(3, 1000), [gap("old"), message("new", "0"), message("new", "1")]);
        assert_eq!(outbox.take(1, 1000), [message("new", "2")]);
    }

    #[test]
    fn messages_are_dropped_by_their_bytes_too() {
        let outbox = Outbox::default();
        let big = "x".repeat(MAX_MESSAGE_BYTES);
        for _ in 0..5 {
            push(&outbox, "room", &*big);
        }
        let status = outbox.status(None);
        assert_eq!((status.queued, status.dropped), (4, 1));
        // A batch has one message at least.
        assert_eq!(outbox.take(100, 10), [gap("room"), message("room", &*big)]);
    }

    #[test]
    fn a_message_that_is_too_large_is_a_gap_in_its_place() {
        let outbox = Outbox::default();
        push(&outbox, "room", "before");
        push(&outbox, "room", "x".repeat(MAX_MESSAGE_BYTES + 1));
        push(&outbox, "room", "after");
        assert_eq!(outbox.status(None).dropped, 1);
        let batch = outbox.take(100, 1000);
        assert_eq!(batch, [message("room", "before"), gap("room"), message("room", "after")]);
    }

    #[tokio::test]
    async fn everything_is_sent_when_the_last_batch_is() {
        use futures::FutureExt as _;
        let outbox = Outbox::default();
        outbox.wait_until_sent().await;
        push(&outbox, "room", "1");
        let mut sent = Box::pin(outbox.wait_until_sent());
        assert!((&mut sent).now_or_never().is_none());
        assert!(outbox.wait().await);
        assert_eq!(outbox.take(100, 1000).len(), 1);
        assert!((&mut sent).now_or_never().is_none());
        // The sender is ready for the next batch.
        assert!(outbox.wait().now_or_never().is_none());
        sent.await;
    }

    #[tokio::test]
    async fn what_could_not_be_sent_becomes_gaps() {
        let outbox = Outbox::default();
        push(&outbox, "one", "1");
        push(&outbox, "one", "2");
        assert!(outbox.wait().await);
        let batch = outbox.take(100, 1000);
        outbox.add_lost(batch);
        assert_eq!(outbox.status(None).dropped, 2);
        assert!(outbox.wait().await);
        assert_eq!(outbox.take(100, 1000), [gap("one")]);
        outbox.add_lost(vec![Outgoing::GapOfAll, gap("one")]);
        assert_eq!(outbox.take(100, 1000), [Outgoing::GapOfAll]);
        outbox.close();
        assert!(!outbox.wait().await);
    }
}
