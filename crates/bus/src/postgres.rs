//! A bus over PostgreSQL's `LISTEN` and `NOTIFY`, for a few nodes that have no other server.
//!
//! Every node receives the messages of all channels, and each commit of a `NOTIFY` takes a lock of the whole database server:
//! for many events there is NATS.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::task::AbortHandle;

use crate::bus::{Bus, BusError, BusFuture, BusStatus};
use crate::channel_key::ChannelKey;
use crate::connection_status::ConnectionStatus;
use crate::envelope::NodeId;
use crate::outbox::Outbox;
use crate::refused_nodes::RefusedNodes;
use crate::subscription::Subscription;
use crate::subscription_table::SubscriptionTable;

mod connection;
mod listener;
mod publisher;

use connection::Database;
use listener::Listener;
use publisher::Publisher;

/// The connection of one node to a bus over a PostgreSQL database.
///
/// Nodes whose current schema (the first of the search path) is the same are on the same bus. A node has two connections to
/// the database: one that listens and one that notifies. Both have to be connections to the server itself or through a pool
/// by session: a pool by transaction supports no `LISTEN`.
///
/// # Examples
///
/// ```no_run
/// use toolwright::bus::{Bus, PostgresBus};
///
/// # async fn example() -> Result<(), toolwright::bus::BusError> {
/// let bus = PostgresBus::connect("postgres://assistant@localhost/assistant").await?;
/// bus.publish("greetings", "hello".to_owned());
/// # Ok(()) }
/// ```
pub struct PostgresBus {
    outbox: Arc<Outbox>,
    subscriptions: Arc<SubscriptionTable>,
    refused: Arc<RefusedNodes>,
    listening: Arc<ConnectionStatus>,
    publishing: Arc<ConnectionStatus>,
    listener: AbortHandle,
}

impl PostgresBus {
    /// Connects to a database, in the background: waits a few seconds for the first attempt. If the database cannot be
    /// reached then, [`status`](Bus::status) has the error, and the bus works as soon as it is there.
    ///
    /// Has to be called in a runtime of tokio.
    ///
    /// # Errors
    ///
    /// When the URL is malformed. The message has no password.
    pub async fn connect(url: &str) -> Result<Self, BusError> {
        let database = Database::parse(url)?;
        let node = NodeId::random()?;
        let outbox = Arc::<Outbox>::default();
        let subscriptions = Arc::<SubscriptionTable>::default();
        let refused = Arc::<RefusedNodes>::default();
        let status = || Arc::new(ConnectionStatus::new(database.label()));
        let (listening, publishing) = (status(), status());
        let listener = Listener {
            database: database.clone(),
            node: node.clone(),
            subscriptions: Arc::clone(&subscriptions),
            refused: Arc::clone(&refused),
            status: Arc::clone(&listening),
        };
        let publisher =
            Publisher { database, outbox: Arc::clone(&outbox), status: Arc::clone(&publishing) };
        let listener = tokio::spawn(listener.run()).abort_handle();
        // Not aborted with the bus: it sends what is queued first.
        tokio::spawn(publisher.run(node));
        tokio::join!(listening.wait_for_first_attempt(), publishing.wait_for_first_attempt());
        Ok(Self { outbox, subscriptions, refused, listening, publishing, listener })
    }
}

impl Bus for PostgresBus {
    fn publish(&self, channel: &str, message: String) {
        self.outbox.push(ChannelKey::of(channel), message);
    }

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        // The node listens already, or sends a gap to this subscription as soon as it does.
        let subscription = self.subscriptions.subscribe(ChannelKey::of(channel));
        Box::pin(async move { Ok(subscription) })
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.outbox.wait_until_sent())
    }

    fn status(&self) -> BusStatus {
        let error = self.listening.error().or_else(|| self.publishing.error());
        BusStatus { refused: self.refused.count(), ..self.outbox.status(error) }
    }
}

impl Drop for PostgresBus {
    fn drop(&mut self) {
        self.outbox.close();
        self.listener.abort();
        self.subscriptions.close();
    }
}

impl fmt::Debug for PostgresBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresBus").field("server", &self.listening.label()).finish()
    }
}
