//! The subscriptions of a node, by channel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::channel_key::ChannelKey;
use crate::subscription::{Delivery, Subscription, SubscriptionSender};

/// The subscriptions of a node to a bus that delivers the messages of all channels.
#[derive(Default)]
pub(crate) struct SubscriptionTable(Mutex<TableState>);

#[derive(Default)]
struct TableState {
    last_number: u64,
    /// By channel, then by the number of the subscription.
    channels: HashMap<ChannelKey, HashMap<u64, SubscriptionSender>>,
}

impl SubscriptionTable {
    fn state(&self) -> MutexGuard<'_, TableState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a subscription; dropping it removes it.
    pub(crate) fn subscribe(self: &Arc<Self>, key: ChannelKey) -> Subscription {
        let mut state = self.state();
        state.last_number += 1;
        let number = state.last_number;
        let guard = Unsubscribe { table: Arc::clone(self), key, number };
        let (sender, subscription) = Subscription::new(guard);
        state.channels.entry(key).or_default().insert(number, sender);
        subscription
    }

    /// Returns true if the channel has a subscription.
    pub(crate) fn contains(&self, key: ChannelKey) -> bool {
        self.state().channels.contains_key(&key)
    }

    /// Delivers to the subscriptions of a channel.
    pub(crate) fn send(&self, key: ChannelKey, delivery: &Delivery) {
        let state = self.state();
        let subscriptions = state.channels.get(&key).into_iter().flat_map(HashMap::values);
        subscriptions.for_each(|sender| sender.send(delivery.clone()));
    }

    /// Delivers a gap to all subscriptions.
    pub(crate) fn send_gap_to_all(&self) {
        let state = self.state();
        let subscriptions = state.channels.values().flat_map(HashMap::values);
        subscriptions.for_each(|sender| sender.send(Delivery::Gap));
    }

    /// Ends all subscriptions.
    pub(crate) fn close(&self) {
        let channels = std::mem::take(&mut self.state().channels);
        drop(channels);
    }
}

/// Removes a subscription when it is dropped.
struct Unsubscribe {
    table: Arc<SubscriptionTable>,
    key: ChannelKey,
    number: u64,
}

impl Drop for Unsubscribe {
    fn drop(&mut self) {
        let mut state = self.table.state();
        if let Some(subscriptions) = state.channels.get_mut(&self.key) {
            subscriptions.remove(&self.number);
            if subscriptions.is_empty() {
                state.channels.remove(&self.key);
            }
        }
    }
}
