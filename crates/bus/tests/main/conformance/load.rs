//! Many publishers, many channels, and readers that do not keep up.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::join_all;
use toolwright_bus::{Bus as _, Delivery};

use crate::backend::Backend;
use crate::fixtures::{next, next_text, read_to};

pub(crate) async fn several_nodes_publish_to_one_channel_at_the_same_time(backend: &Backend) {
    let reader = backend.node().await;
    let mut subscription = reader.subscribe("room").await.unwrap();
    let nodes = backend.nodes::<4>().await;
    let mut tasks = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        for task in 0..3 {
            let node = Arc::clone(node);
            tasks.push(tokio::spawn(async move {
                for n in 0..250 {
                    node.publish("room", format!("{number}-{task} {n}"));
                    tokio::task::yield_now().await;
                }
            }));
        }
    }
    let mut received: HashMap<String, u32> = HashMap::new();
    for _ in 0..4 * 3 * 250 {
        let text = next_text(&mut subscription).await;
        let (publisher, n) = text.split_once(' ').unwrap();
        let expected = received.entry(publisher.to_owned()).or_default();
        assert_eq!(n, expected.to_string(), "of {publisher}");
        *expected += 1;
    }
    assert_eq!(received.len(), 12);
    join_all(tasks).await;
}

pub(crate) async fn two_thousand_channels_are_kept_apart(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let names: Vec<String> = (0..2000).map(|n| format!("conversation {n}")).collect();
    let subscriptions = join_all(names.iter().map(|name| two.subscribe(name))).await;
    for round in 0..3 {
        for name in &names {
            one.publish(name, format!("{name} {round}"));
        }
    }
    for (name, subscription) in names.iter().zip(subscriptions) {
        let mut subscription = subscription.unwrap();
        for round in 0..3 {
            assert_eq!(next_text(&mut subscription).await, format!("{name} {round}"));
        }
    }
}

pub(crate) async fn a_slow_reader_receives_a_gap_and_goes_on(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut slow = two.subscribe("slow").await.unwrap();
    let mut fast = two.subscribe("fast").await.unwrap();
    let mut number = 0;
    // More than once: the messages may reach the subscription only while it is read.
    let has_gap = 'bursts: loop {
        let burst = number..number + 6000;
        for n in burst.clone() {
            one.publish("slow", n.to_string());
        }
        one.publish("fast", burst.end.to_string());
        assert_eq!(next_text(&mut fast).await, burst.end.to_string());
        while number < burst.end {
            match next(&mut slow).await {
                Delivery::Message(text) => assert_eq!(*text, *number.to_string()),
                Delivery::Gap => break 'bursts true,
            }
            number += 1;
        }
        if number > 200_000 {
            break false;
        }
    };
    assert!(has_gap, "a subscription that is not read grows without a limit");
    one.publish("slow", "after the gap".to_owned());
    read_to(&mut slow, "after the gap").await;
    one.publish("slow", "and on".to_owned());
    assert_eq!(next_text(&mut slow).await, "and on");
}
