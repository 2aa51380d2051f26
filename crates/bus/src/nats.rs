//! A bus over core NATS, for many nodes and many events.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::bus::{Bus, BusError, BusFuture, BusStatus};
use crate::channel_key::ChannelKey;
use crate::connection_status::ConnectionStatus;
use crate::envelope::NodeId;
use crate::outbox::Outbox;
use crate::refused_nodes::RefusedNodes;
use crate::subscription::Subscription;

mod address;
mod link;
mod publisher;
mod subscriber;
mod supervisor;

use address::Address;
use link::Link;
use publisher::{Publisher, Unconfirmed};
use subscriber::Subscriber;
use supervisor::Supervisor;

/// How long [`Bus::subscribe`] waits until the server has confirmed the subscription; then there is a gap later.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

/// The connection of one node to a bus over NATS servers.
///
/// The subjects begin with the path of the URL, by default `toolwright`: installations that share servers and an account have
/// paths of their own. A user of NATS needs permission to publish and to subscribe to `toolwright.>`.
///
/// # Examples
///
/// ```no_run
/// use toolwright::bus::{Bus, NatsBus};
///
/// # async fn example() -> Result<(), toolwright::bus::BusError> {
/// let bus = NatsBus::connect("nats://user:password@one:4222,two:4222/shop").await?;
/// bus.publish("greetings", "hello".to_owned());
/// # Ok(()) }
/// ```
pub struct NatsBus {
    outbox: Arc<Outbox>,
    link: Link,
    status: Arc<ConnectionStatus>,
    node: NodeId,
    refused: Arc<RefusedNodes>,
    supervisor: AbortHandle,
}

impl NatsBus {
    /// Connects to servers, in the background: waits a few seconds for the first attempt. If no server can be reached then,
    /// [`status`](Bus::status) has the error, and the bus works as soon as one is there.
    ///
    /// The URL is `nats://HOST`, or `tls://HOST` to require TLS; with a port, `USER:PASSWORD@` or `TOKEN@` before the host, and
    /// more servers after commas. The certificates of servers are verified with those of the system, or of a file:
    /// `tls://HOST?ca=FILE`. Has to be called in a runtime of tokio.
    ///
    /// # Errors
    ///
    /// When the URL is malformed, or the file of certificates cannot be read. The message has no password.
    pub async fn connect(url: &str) -> Result<Self, BusError> {
        let address = Address::parse(url)?;
        let node = NodeId::random()?;
        let status = Arc::new(ConnectionStatus::new(address.label()));
        let (link, events, state) = Link::open(address).await?;
        let (outbox, unconfirmed) = (Arc::<Outbox>::default(), Arc::<Unconfirmed>::default());
        let publisher = Publisher {
            outbox: Arc::clone(&outbox),
            link: link.clone(),
            unconfirmed: Arc::clone(&unconfirmed),
        };
        let supervisor = Supervisor {
            link: link.clone(),
            state,
            events,
            status: Arc::clone(&status),
            outbox: Arc::clone(&outbox),
            unconfirmed,
            node: node.clone(),
            refused_at: None,
        };
        // Not aborted with the bus: it sends what is queued first.
        tokio::spawn(publisher.run(node.clone()));
        let supervisor = tokio::spawn(supervisor.run()).abort_handle();
        status.wait_for_first_attempt().await;
        Ok(Self { outbox, link, status, node, refused: Arc::default(), supervisor })
    }
}

impl Bus for NatsBus {
    fn publish(&self, channel: &str, message: String) {
        self.outbox.push(ChannelKey::of(channel), message);
    }

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        Box::pin(async move {
            let (confirm, confirmed) = oneshot::channel();
            let (guard, dropped) = oneshot::channel();
            let (sender, subscription) = Subscription::new(guard);
            let subscriber = Subscriber {
                link: self.link.clone(),
                node: self.node.clone(),
                key: ChannelKey::of(channel),
                sender,
                refused: Arc::clone(&self.refused),
            };
            tokio::spawn(subscriber.run(confirm, dropped));
            if self.link.is_connected() {
                // A server that does not confirm is no error: the subscription receives a gap as soon as it works.
                let _ = timeout(SUBSCRIBE_TIMEOUT, confirmed).await;
            }
            Ok(subscription)
        })
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.outbox.wait_until_sent().await;
            // What the client has buffered. An error means that it has ended.
            let _ = self.link.client.flush().await;
        })
    }

    fn status(&self) -> BusStatus {
        BusStatus { refused: self.refused.count(), ..self.outbox.status(self.status.error()) }
    }
}

impl Drop for NatsBus {
    fn drop(&mut self) {
        self.outbox.close();
        // The subscriptions end with it, and the publisher soon.
        self.supervisor.abort();
    }
}

impl fmt::Debug for NatsBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsBus").field("server", &self.status.label()).finish()
    }
}
