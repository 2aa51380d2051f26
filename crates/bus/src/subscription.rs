//! Subscriptions: a bounded queue of deliveries, where a gap replaces what does not fit.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What a subscription receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A message of another node.
    Message(Arc<str>),
    /// Messages may be missing from here on: the bus could not be reached, or the subscription was read too slowly.
    Gap,
}

/// The number of deliveries that wait in a subscription; more are a gap.
const MAX_WAITING: usize = 4096;

/// The bytes of the messages that wait in a subscription; more are a gap. A single message of any size fits.
const MAX_WAITING_BYTES: usize = 16 << 20;

/// A subscription to one channel; dropping it unsubscribes.
pub struct Subscription {
    queue: Arc<DeliveryQueue>,
    /// Unsubscribes when it is dropped.
    _guard: Box<dyn Send + Sync>,
}

/// The sending half of a [`Subscription`]; for implementations of [`Bus`](crate::Bus). When the last clone is dropped, the
/// subscription ends.
#[derive(Clone)]
pub struct SubscriptionSender(Arc<SenderHandle>);

struct SenderHandle(Arc<DeliveryQueue>);

#[derive(Default)]
struct DeliveryQueue {
    state: Mutex<QueueState>,
    changed: Notify,
}

#[derive(Default)]
struct QueueState {
    deliveries: VecDeque<Delivery>,
    bytes: usize,
    /// A delivery did not fit. Nothing more is queued until the reader has received the gap, which later messages would hide.
    overflowed: bool,
    closed: bool,
}

impl DeliveryQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Creates a subscription; `guard` is dropped with it, and unsubscribes.
    pub fn new(guard: impl Send + Sync + 'static) -> (SubscriptionSender, Self) {
        let queue = Arc::<DeliveryQueue>::default();
        let sender = SubscriptionSender(Arc::new(SenderHandle(Arc::clone(&queue))));
        (sender, Self { queue, _guard: Box::new(guard) })
    }

    /// Waits for the next delivery; `None` if the bus has ended.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Delivery> {
        loop {
            {
                let mut state = self.queue.state();
                if let Some(delivery) = state.deliveries.pop_front() {
                    state.bytes -= size(&delivery);
                    return Some(delivery);
                }
                if std::mem::take(&mut state.overflowed) {
                    return Some(Delivery::Gap);
                }
                if state.closed {
                    return None;
                }
            }
            self.queue.changed.notified().await;
        }
    }
}

impl SubscriptionSender {
    /// Delivers to the subscription; if it is full, its reader receives a gap instead.
    pub fn send(&self, delivery: Delivery) {
        let queue = &self.0.0;
        let mut state = queue.state();
        let is_repeated_gap =
            delivery == Delivery::Gap && state.deliveries.back() == Some(&Delivery::Gap);
        if state.overflowed || is_repeated_gap {
            return;
        }
        let bytes = state.bytes + size(&delivery);
        let is_full = state.deliveries.len() >= MAX_WAITING || bytes > MAX_WAITING_BYTES;
        if is_full && !state.deliveries.is_empty() {
            state.overflowed = true;
        } else {
            state.deliveries.push_back(delivery);
            state.bytes = bytes;
        }
        drop(state);
        queue.changed.notify_one();
    }
}

impl Drop for SenderHandle {
    fn drop(&mut self) {
        self.0.state().closed = true;
        self.0.changed.notify_one();
    }
}

fn size(delivery: &Delivery) -> usize {
    match delivery {
        Delivery::Message(text) => text.len(),
        Delivery::Gap => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Delivery {
        Delivery::Message(text.into())
    }

    async fn drain(subscription: &mut Subscription) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        while let Some(delivery) = subscription.next().await {
            deliveries.push(delivery);
        }
        deliveries
    }

    #[tokio::test]
    async fn what_does_not_fit_is_one_gap_after_what_fits() {
        let (sender, mut subscription) = Subscription::new(());
        for _ in 0..MAX_WAITING + 100 {
            sender.send(message("x"));
        }
        for _ in 0..MAX_WAITING {
            assert_eq!(subscription.next().await, Some(message("x")));
        }
        sender.send(message("lost, because the reader has not received the gap"));
        assert_eq!(subscription.next().await, Some(Delivery::Gap));
        sender.send(message("after"));
        drop(sender);
        assert_eq!(drain(&mut subscription).await, [message("after")]);
    }

    #[tokio::test]
    async fn big_messages_fill_a_subscription_by_their_bytes() {
        let (sender, mut subscription) = Subscription::new(());
        let big = "x".repeat(MAX_WAITING_BYTES / 2 - 10);
        for _ in 0..5 {
            sender.send(message(&big));
        }
        drop(sender);
        let deliveries = drain(&mut subscription).await;
        assert_eq!(deliveries, [message(&big), message(&big), Delivery::Gap]);
    }

    #[tokio::test]
    async fn a_message_of_any_size_fits_into_an_empty_subscription() {
        let (sender, mut subscription) = Subscription::new(());
        let huge = "x".repeat(MAX_WAITING_BYTES + 1);
        sender.send(message(&huge));
        assert_eq!(subscription.next().await, Some(message(&huge)));
    }

    #[tokio::test]
    async fn gaps_without_a_message_between_them_are_one() {
        let (sender, mut subscription) = Subscription::new(());
        for delivery in [Delivery::Gap, Delivery::Gap, message("one"), Delivery::Gap] {
            sender.send(delivery);
        }
        drop(sender);
        let deliveries = drain(&mut subscription).await;
        assert_eq!(deliveries, [Delivery::Gap, message("one"), Delivery::Gap]);
    }

    #[tokio::test]
    async fn a_reader_that_waits_is_woken_by_a_message_and_by_the_end() {
        let (sender, mut subscription) = Subscription::new(());
        let reader = tokio::spawn(async move { drain(&mut subscription).await });
        tokio::task::yield_now().await;
        sender.send(message("one"));
        tokio::task::yield_now().await;
        drop(sender);
        assert_eq!(reader.await.ok(), Some(vec![message("one")]));
    }
}
