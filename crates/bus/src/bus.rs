//! The [`Bus`] role: publish to a channel, subscribe to a channel, and the state of the connection.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::subscription::Subscription;

/// The future of an operation of a [`Bus`].
pub type BusFuture<'a, T> = BoxFuture<'a, Result<T, BusError>>;

/// The connection of one node to the other nodes of a cluster.
///
/// Messages of one node to one channel arrive in the order in which they were published. Messages may be lost: while the bus
/// cannot be reached, or if a subscription is read too slowly. Then its reader receives a
/// [`Delivery::Gap`](crate::Delivery::Gap).
pub trait Bus: Send + Sync + 'static {
    /// Publishes a message to the subscriptions that other nodes have to this channel. A node does not receive its own
    /// messages.
    ///
    /// Returns at once: messages are queued, and the oldest are dropped while the bus cannot be reached or is too slow. A
    /// message of more than [`MAX_MESSAGE_BYTES`] is dropped. The subscriptions to its channel receive a gap instead.
    fn publish(&self, channel: &str, message: String);

    /// Subscribes to a channel. Messages that are published after this returns are received, unless there is a gap.
    ///
    /// Succeeds also while the bus cannot be reached; the first delivery after that is a gap.
    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription>;

    /// Waits until the messages that were published before are sent: for a node that is about to end.
    ///
    /// Waits as long as the bus cannot be reached, so callers limit the time.
    fn flush(&self) -> BoxFuture<'_, ()>;

    /// Returns the state of the connection, for readiness probes and metrics.
    fn status(&self) -> BusStatus;
}

impl<B: Bus + ?Sized> Bus for Arc<B> {
    fn publish(&self, channel: &str, message: String) {
        (**self).publish(channel, message);
    }

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        (**self).subscribe(channel)
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        (**self).flush()
    }

    fn status(&self) -> BusStatus {
        (**self).status()
    }
}

/// The number of the protocol between nodes: of the messages that they send each other, and of what they read of each other in
/// the shared state.
///
/// Every change of either raises it. Nodes of different numbers do not work together: a node refuses the messages of another
/// number, and does not start beside nodes that have one.
pub const NODE_PROTOCOL: u32 = 1;

/// The size of a message that a bus carries at most; a larger one is dropped, and its subscriptions receive a gap.
pub const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// The state of a node's connection to the bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusStatus {
    /// Why the bus does not work: the error of the last attempt to connect, or what the server refuses.
    pub error: Option<String>,
    /// The number of messages that wait to be sent.
    pub queued: usize,
    /// The number of messages that were dropped since the start: published while the bus was away or too slow, or too large.
    pub dropped: u64,
    /// The number of messages that were refused since the start: their node has another [`NODE_PROTOCOL`].
    pub refused: u64,
}

impl BusStatus {
    /// Returns true if the bus works.
    pub fn is_connected(&self) -> bool {
        self.error.is_none()
    }
}

/// An error of a bus.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct BusError {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl BusError {
    /// Creates an error with a message that states the remedy.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Adds the source of the error.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}
