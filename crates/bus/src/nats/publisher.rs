//! Sends what is queued, while there is a connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::client::PublishErrorKind;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::link::{Link, LinkState};
use crate::channel_key::ChannelSet;
use crate::envelope::{EnvelopeWriter, NodeId};
use crate::outbox::{Outbox, Outgoing};

/// The messages that are taken from the queue at a time.
const MAX_BATCH: usize = 64;

/// The bytes of those messages.
const MAX_BATCH_BYTES: usize = 256 << 10;

/// How long a bus that was dropped goes on to send what is queued.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The task that sends the messages of this node.
pub(super) struct Publisher {
    pub(super) outbox: Arc<Outbox>,
    pub(super) link: Link,
    pub(super) unconfirmed: Arc<Unconfirmed>,
}

impl Publisher {
    /// Runs until the bus was dropped and its queue was sent, or a moment later.
    pub(super) async fn run(self, node: NodeId) {
        tokio::select! {
            () = self.send_queued(node) => {}
            () = wait_for_close(self.link.state()) => {}
        }
    }

    async fn send_queued(&self, node: NodeId) {
        let mut writer = EnvelopeWriter::new(node, false);
        let mut state = self.link.state();
        while self.outbox.wait().await {
            // An error means that the bus was dropped; the state is the last one then.
            if state.wait_for(|state| state.is_connected).await.is_err()
                && !self.link.is_connected()
            {
                return;
            }
            self.send_batch(self.outbox.take(MAX_BATCH, MAX_BATCH_BYTES), &mut writer).await;
        }
        // Without it, what the client has buffered is dropped with the client.
        let _ = timeout(CLOSE_TIMEOUT, self.link.client.flush()).await;
    }

    async fn send_batch(&self, batch: Vec<Outgoing>, writer: &mut EnvelopeWriter) {
        // Before and after: a confirmation, and the loss of the connection, may come between.
        self.unconfirmed.insert(&batch);
        let mut lost = Vec::new();
        let mut envelopes = Vec::new();
        let max_bytes = self.link.client.max_payload();
        for outgoing in &batch {
            let subject = match outgoing {
                Outgoing::Message { key, text } => {
                    writer.write_message(*key, text, max_bytes, &mut envelopes);
                    self.link.subject(*key)
                }
                Outgoing::Gap(key) => {
                    writer.write_gap(Some(*key), &mut envelopes);
                    self.link.subject(*key)
                }
                Outgoing::GapOfAll => {
                    writer.write_gap(None, &mut envelopes);
                    self.link.gap_subject()
                }
            };
            for envelope in envelopes.drain(..) {
                let published = self.link.client.publish(subject.clone(), envelope.into()).await;
                // A new server has a lower limit; any other error is the end of the client.
                if let Err(error) = published
                    && error.kind() == PublishErrorKind::MaxPayloadExceeded
                    && let Outgoing::Message { key, .. } = outgoing
                {
                    lost.push(Outgoing::Message { key: *key, text: String::new() });
                    break;
                }
            }
        }
        self.unconfirmed.insert(&batch);
        if !lost.is_empty() {
            self.outbox.add_lost(lost);
        }
    }
}

/// Waits until the bus was dropped, and a moment more.
async fn wait_for_close(mut state: watch::Receiver<LinkState>) {
    while state.changed().await.is_ok() {}
    sleep(CLOSE_TIMEOUT).await;
}

/// The channels of messages that were sent, of which it is not known whether the server has received them.
#[derive(Default)]
pub(super) struct Unconfirmed(Mutex<UnconfirmedState>);

#[derive(Default)]
struct UnconfirmedState {
    /// Sent since the last confirmation began.
    sent: ChannelSet,
    /// Sent before that.
    confirming: ChannelSet,
}

impl Unconfirmed {
    fn state(&self) -> MutexGuard<'_, UnconfirmedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, batch: &[Outgoing]) {
        let mut state = self.state();
        for outgoing in batch {
            match outgoing {
                Outgoing::Message { key, .. } | Outgoing::Gap(key) => state.sent.insert(*key),
                Outgoing::GapOfAll => state.sent.insert_all(),
            }
        }
    }

    /// Begins a confirmation of what was sent; false if there is nothing to confirm.
    pub(super) fn begin_confirmation(&self) -> bool {
        let mut state = self.state();
        let sent = std::mem::take(&mut state.sent);
        state.confirming.extend(sent);
        !state.confirming.is_empty()
    }

    /// The server has received what was sent before the confirmation began.
    pub(super) fn end_confirmation(&self) {
        self.state().confirming = ChannelSet::default();
    }

    /// Takes all channels, because the connection was lost.
    pub(super) fn take(&self) -> ChannelSet {
        let mut state = self.state();
        let UnconfirmedState { mut sent, confirming } = std::mem::take(&mut *state);
        sent.extend(confirming);
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel_key::ChannelKey;

    #[test]
    fn channels_stay_unconfirmed_until_a_confirmation_that_began_later_ends() {
        let unconfirmed = Unconfirmed::default();
        let gap = |channel| [Outgoing::Gap(ChannelKey::of(channel))];
        assert!(!unconfirmed.begin_confirmation());
        unconfirmed.insert(&gap("before"));
        assert!(unconfirmed.begin_confirmation());
        unconfirmed.insert(&gap("during"));
        unconfirmed.end_confirmation();
        let left: Vec<ChannelKey> = unconfirmed.take().into_keys().collect();
        assert_eq!(left, [ChannelKey::of("during")]);
        // A confirmation that fails forgets nothing.
        unconfirmed.insert(&gap("before"));
        assert!(unconfirmed.begin_confirmation());
        unconfirmed.insert(&gap("during"));
        assert!(unconfirmed.begin_confirmation());
        assert_eq!(unconfirmed.take().into_keys().count(), 2);
    }
}
