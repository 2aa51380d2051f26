//! What the tests share: reading subscriptions, and waiting.

use std::time::Duration;

use tokio::time::timeout;
use toolwright_bus::{Bus, Delivery, Subscription};

/// A test that waits for longer has failed. It is never waited for otherwise.
const DEADLINE: Duration = Duration::from_secs(120);

/// Waits for the next delivery.
pub(crate) async fn next(subscription: &mut Subscription) -> Delivery {
    let next = timeout(DEADLINE, subscription.next()).await;
    next.expect("a delivery").expect("the bus has not ended")
}

/// Waits for a message; fails if there is a gap instead.
pub(crate) async fn next_text(subscription: &mut Subscription) -> String {
    match next(subscription).await {
        Delivery::Message(text) => text.to_string(),
        Delivery::Gap => panic!("a gap in place of a message"),
    }
}

/// Waits for a gap, and returns the messages before it.
pub(crate) async fn read_to_gap(subscription: &mut Subscription) -> Vec<String> {
    let mut texts = Vec::new();
    while let Delivery::Message(text) = next(subscription).await {
        texts.push(text.to_string());
    }
    texts
}

/// Waits for a message with this text; other messages and gaps may come before it.
pub(crate) async fn read_to(subscription: &mut Subscription, text: &str) {
    while next(subscription).await != Delivery::Message(text.into()) {}
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let poll = async {
        let mut interval = tokio::time::interval(Duration::from_millis(5));
        while !holds() {
            interval.tick().await;
        }
    };
    timeout(DEADLINE, poll).await.unwrap_or_else(|_| panic!("{what}"));
}

/// Waits until the bus is connected, or is not.
pub(crate) async fn until_connected(bus: &dyn Bus, connected: bool) {
    let what = format!("connected: {connected}");
    until(&what, || bus.status().is_connected() == connected).await;
}

/// Publishes a message again and again until it is received: what is published while a connection is lost may be lost.
pub(crate) async fn publish_until_received(
    bus: &dyn Bus,
    channel: &str,
    text: &str,
    subscription: &mut Subscription,
) {
    let mut interval = tokio::time::interval(Duration::from_millis(50));
    let publish = async {
        loop {
            interval.tick().await;
            bus.publish(channel, text.to_owned());
        }
    };
    tokio::select! {
        () = publish => {}
        () = read_to(subscription, text) => {}
    }
}
