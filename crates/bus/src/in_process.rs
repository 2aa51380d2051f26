//! A bus between several nodes of one process, for tests and for programs that run several servers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use crate::bus::{Bus, BusFuture, BusStatus, MAX_MESSAGE_BYTES};
use crate::subscription::{Delivery, Subscription, SubscriptionSender};

/// The connection of one node to a bus within this process.
///
/// # Examples
///
/// ```
/// use toolwright::bus::{Bus, Delivery, InProcessBus};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let bus = InProcessBus::new();
/// let (one, two) = (bus.node(), bus.node());
/// let mut subscription = two.subscribe("greetings").await?;
/// one.publish("greetings", "hello".to_owned());
/// assert_eq!(subscription.next().await, Some(Delivery::Message("hello".into())));
/// # Ok::<(), toolwright::bus::BusError>(()) }).unwrap();
/// ```
pub struct InProcessBus {
    hub: Arc<Hub>,
    node: u64,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Hub(Mutex<HubState>);

#[derive(Default)]
struct HubState {
    nodes: u64,
    subscriptions: u64,
    /// By channel, then by the number of the subscription.
    channels: HashMap<String, HashMap<u64, (u64, SubscriptionSender)>>,
}

impl Hub {
    fn state(&self) -> MutexGuard<'_, HubState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InProcessBus {
    /// Creates a bus, and its first node.
    pub fn new() -> Self {
        Self { hub: Arc::default(), node: 0, dropped: AtomicU64::new(0) }
    }

    /// Connects another node to the same bus.
    #[must_use]
    pub fn node(&self) -> Self {
        let mut state = self.hub.state();
        state.nodes += 1;
        let (hub, node) = (Arc::clone(&self.hub), state.nodes);
        Self { hub, node, dropped: AtomicU64::new(0) }
    }
}

impl Default for InProcessBus {
    fn default() -> Self {
        Self::new()
    }
}

impl Bus for InProcessBus {
    fn publish(&self, channel: &str, message: String) {
        let state = self.hub.state();
        let Some(subscriptions) = state.channels.get(channel) else { return };
        let delivery = if message.len() <= MAX_MESSAGE_BYTES {
            Delivery::Message(message.into())
        } else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            Delivery::Gap
        };
        let others = subscriptions.values().filter(|(node, _)| *node != self.node);
        others.for_each(|(_, sender)| sender.send(delivery.clone()));
    }

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        Box::pin(async move {
            let mut state = self.hub.state();
            state.subscriptions += 1;
            let number = state.subscriptions;
            let guard =
                Unsubscribe { hub: Arc::clone(&self.hub), channel: channel.to_owned(), number };
            let (sender, subscription) = Subscription::new(guard);
            let known = state.channels.entry(channel.to_owned()).or_default();
            known.insert(number, (self.node, sender));
            Ok(subscription)
        })
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        // A message is delivered when it is published.
        Box::pin(std::future::ready(()))
    }

    fn status(&self) -> BusStatus {
        BusStatus { dropped: self.dropped.load(Ordering::Relaxed), ..BusStatus::default() }
    }
}

/// Removes a subscription when it is dropped.
struct Unsubscribe {
    hub: Arc<Hub>,
    channel: String,
    number: u64,
}

impl Drop for Unsubscribe {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        if let Some(known) = state.channels.get_mut(&self.channel) {
            known.remove(&self.number);
            if known.is_empty() {
                state.channels.remove(&self.channel);
            }
        }
    }
}
