//! Which subscriptions receive a message, and in which order.

use toolwright_bus::Bus as _;

use crate::backend::Backend;
use crate::fixtures::{next, next_text};

pub(crate) async fn every_subscription_of_other_nodes_receives_a_message(backend: &Backend) {
    let [one, two, three] = backend.nodes().await;
    let mut subscriptions = vec![
        two.subscribe("room").await.unwrap(),
        two.subscribe("room").await.unwrap(),
        three.subscribe("room").await.unwrap(),
    ];
    one.publish("room", "hello".to_owned());
    for subscription in &mut subscriptions {
        assert_eq!(next_text(subscription).await, "hello");
    }
    assert!(one.status().is_connected());
    assert_eq!(one.status().dropped, 0);
}

pub(crate) async fn a_node_does_not_receive_its_own_messages(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut own = one.subscribe("room").await.unwrap();
    let mut other = two.subscribe("room").await.unwrap();
    one.publish("room", "of one".to_owned());
    assert_eq!(next_text(&mut other).await, "of one");
    two.publish("room", "of two".to_owned());
    assert_eq!(next_text(&mut own).await, "of two");
    one.publish("room", "of one again".to_owned());
    assert_eq!(next_text(&mut other).await, "of one again");
}

pub(crate) async fn messages_of_other_channels_are_not_received(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut room = two.subscribe("room").await.unwrap();
    let mut lower = two.subscribe("room ").await.unwrap();
    for channel in ["Room", "roo", "rooms", "room.", "room.>", "room.*", "*", ">", ""] {
        one.publish(channel, channel.to_owned());
    }
    one.publish("room", "room".to_owned());
    one.publish("room ", "with a space".to_owned());
    assert_eq!(next_text(&mut room).await, "room");
    assert_eq!(next_text(&mut lower).await, "with a space");
}

pub(crate) async fn messages_arrive_in_the_order_in_which_they_were_published(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut subscription = two.subscribe("room").await.unwrap();
    for n in 0..3000 {
        // Some are long enough to be sent in parts.
        let padding = if n % 100 == 0 { 20_000 } else { n % 50 };
        one.publish("room", format!("{n} {}", "x".repeat(padding)));
    }
    for n in 0..3000 {
        let text = next_text(&mut subscription).await;
        assert_eq!(text.split(' ').next(), Some(n.to_string().as_str()));
    }
}

pub(crate) async fn a_subscription_that_was_dropped_leaves_others_alone(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut kept = two.subscribe("room").await.unwrap();
    for n in 0..20 {
        let dropped = two.subscribe("room").await.unwrap();
        let other = two.subscribe("other").await.unwrap();
        drop((dropped, other));
        one.publish("room", n.to_string());
        assert_eq!(next_text(&mut kept).await, n.to_string());
    }
    let mut again = two.subscribe("other").await.unwrap();
    one.publish("other", "again".to_owned());
    assert_eq!(next_text(&mut again).await, "again");
}

pub(crate) async fn what_was_published_before_the_bus_was_dropped_arrives(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut subscription = two.subscribe("room").await.unwrap();
    for n in 0..500 {
        one.publish("room", n.to_string());
    }
    drop(one);
    for n in 0..500 {
        assert_eq!(next_text(&mut subscription).await, n.to_string());
    }
    let three = backend.node().await;
    three.publish("room", "of another".to_owned());
    let delivery = next(&mut subscription).await;
    assert_eq!(delivery, toolwright_bus::Delivery::Message("of another".into()));
}

pub(crate) async fn nothing_is_queued_after_a_flush(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    one.flush().await;
    let mut subscription = two.subscribe("room").await.unwrap();
    for n in 0..500 {
        one.publish("room", n.to_string());
    }
    one.flush().await;
    assert_eq!(one.status().queued, 0);
    for n in 0..500 {
        assert_eq!(next_text(&mut subscription).await, n.to_string());
    }
}
