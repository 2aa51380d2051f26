//! Servers that restart, are away, are slow or are cut off: a gap, and then messages again.

use std::sync::Arc;

use test_support::servers::Supervisor;
use test_support::servers::nats::NatsServer;
use test_support::servers::postgres::{NO_FSYNC, PostgresServer};
use test_support::servers::toxiproxy::Toxiproxy;
use toolwright_bus::{Bus, Delivery};

use crate::backend::connect;
use crate::fixtures::{
    next, next_text, publish_until_received, read_to, read_to_gap, until, until_connected,
};

/// A server of the test's own.
enum OwnServer {
    Postgres(PostgresServer),
    Nats(NatsServer),
}

impl OwnServer {
    fn supervisor(&self) -> &Supervisor {
        match self {
            Self::Postgres(server) => &server.supervisor,
            Self::Nats(server) => &server.supervisor,
        }
    }

    fn port(&self) -> u16 {
        match self {
            Self::Postgres(server) => server.port,
            Self::Nats(server) => server.port,
        }
    }

    fn url_at(&self, port: u16) -> String {
        match self {
            Self::Postgres(server) => server.url_at(port, "postgres"),
            Self::Nats(_) => format!("nats://127.0.0.1:{port}"),
        }
    }

    fn url(&self) -> String {
        self.url_at(self.port())
    }

    /// Two nodes, the first through a proxy; `None` where toxiproxy is not installed.
    async fn nodes_with_proxy(&self) -> Option<(Toxiproxy, Arc<dyn Bus>, Arc<dyn Bus>)> {
        let proxy = Toxiproxy::start(self.port())?;
        let behind = connect(&self.url_at(proxy.port)).await;
        Some((proxy, behind, connect(&self.url()).await))
    }
}

macro_rules! every_server {
    ($($check:ident,)+) => {
        mod postgres {
            use super::{NO_FSYNC, OwnServer, PostgresServer};
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                if let Some(server) = PostgresServer::start(NO_FSYNC) {
                    super::$check(&OwnServer::Postgres(server)).await;
                }
            })+
        }

        mod nats {
            use super::{NatsServer, OwnServer};
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                if let Some(server) = NatsServer::start("") {
                    super::$check(&OwnServer::Nats(server)).await;
                }
            })+
        }
    };
}

every_server! {
    a_subscription_ends_with_its_bus,
    a_restart_of_the_server_is_a_gap_and_then_messages_arrive_again,
    publishing_while_the_server_is_away_returns_at_once_and_drops_are_counted,
    a_server_that_is_away_at_the_start_is_used_when_it_is_there,
    what_a_node_could_not_publish_is_a_gap_for_nodes_that_stayed_connected,
    what_was_on_its_way_when_a_node_was_cut_off_is_a_gap_for_the_others,
    a_node_notices_that_it_is_cut_off_although_its_connection_stays_open,
    delays_change_neither_order_nor_content,
    repeated_cuts_lose_nothing_without_a_gap,
}

async fn a_subscription_ends_with_its_bus(server: &OwnServer) {
    let [one, two] = [connect(&server.url()).await, connect(&server.url()).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    one.publish("room", "hello".to_owned());
    assert_eq!(next_text(&mut subscription).await, "hello");
    drop(two);
    assert_eq!(subscription.next().await, None);
    // Also while it cannot be reached.
    let mut own = one.subscribe("room").await.unwrap();
    server.supervisor().run("stop");
    until_connected(&*one, false).await;
    drop(one);
    assert_eq!(own.next().await, None);
}

async fn a_restart_of_the_server_is_a_gap_and_then_messages_arrive_again(server: &OwnServer) {
    let [one, two] = [connect(&server.url()).await, connect(&server.url()).await];
    let mut subscriptions = Vec::new();
    for n in 0..20 {
        subscriptions.push(two.subscribe(&n.to_string()).await.unwrap());
    }
    for command in ["stop", "crash"] {
        one.publish("0", command.to_owned());
        assert_eq!(next_text(&mut subscriptions[0]).await, command);
        server.supervisor().run(command);
        for bus in [&one, &two] {
            until_connected(&**bus, false).await;
            assert!(bus.status().error.is_some_and(|error| error.contains("127.0.0.1:")));
        }
        server.supervisor().run("start");
        for (n, subscription) in subscriptions.iter_mut().enumerate() {
            assert_eq!(read_to_gap(subscription).await, [] as [String; 0]);
            let after = format!("after {command}");
            publish_until_received(&*one, &n.to_string(), &after, subscription).await;
        }
        for bus in [&one, &two] {
            until_connected(&**bus, true).await;
        }
        // Copies of what was published until it was received, and the gaps of both nodes.
        let end = format!("end of {command}");
        for (n, subscription) in subscriptions.iter_mut().enumerate() {
            one.publish(&n.to_string(), end.clone());
            read_to(subscription, &end).await;
        }
    }
}

async fn publishing_while_the_server_is_away_returns_at_once_and_drops_are_counted(
    server: &OwnServer,
) {
    let [one, two] = [connect(&server.url()).await, connect(&server.url()).await];
    let mut before = two.subscribe("room").await.unwrap();
    server.supervisor().run("stop");
    until_connected(&*one, false).await;
    until_connected(&*two, false).await;
    for n in 0..40_000 {
        one.publish("room", n.to_string());
    }
    let status = one.status();
    assert!(status.queued >= 10_000 && status.queued < 20_000, "{status:?}");
    assert!(status.dropped >= 20_000, "{status:?}");
    assert!(status.queued as u64 + status.dropped <= 40_000, "{status:?}");
    let mut during = two.subscribe("room").await.unwrap();
    server.supervisor().run("start");
    for subscription in [&mut before, &mut during] {
        assert_eq!(read_to_gap(subscription).await, [] as [String; 0]);
        publish_until_received(&*one, "room", "after", subscription).await;
    }
    until("everything is sent", || one.status().queued == 0).await;
}

async fn a_server_that_is_away_at_the_start_is_used_when_it_is_there(server: &OwnServer) {
    server.supervisor().run("stop");
    let one = toolwright_bus::open(&server.url()).await.unwrap();
    let two = toolwright_bus::open(&server.url()).await.unwrap();
    assert!(!one.status().is_connected());
    let mut subscription = two.subscribe("room").await.unwrap();
    one.publish("room", "early".to_owned());
    server.supervisor().run("start");
    assert_eq!(next(&mut subscription).await, Delivery::Gap);
    publish_until_received(&*one, "room", "late", &mut subscription).await;
    until_connected(&*one, true).await;
    until_connected(&*two, true).await;
    assert_eq!(one.status().dropped, 0);
}

async fn what_a_node_could_not_publish_is_a_gap_for_nodes_that_stayed_connected(
    server: &OwnServer,
) {
    let Some((proxy, one, two)) = server.nodes_with_proxy().await else { return };
    let mut room = two.subscribe("room").await.unwrap();
    let mut other = two.subscribe("other").await.unwrap();
    one.publish("room", "before".to_owned());
    assert_eq!(next_text(&mut room).await, "before");
    proxy.set_enabled(false);
    until_connected(&*one, false).await;
    one.publish("room", "dropped".to_owned());
    for n in 0..20_000 {
        one.publish("elsewhere", n.to_string());
    }
    one.publish("room", "after".to_owned());
    proxy.set_enabled(true);
    assert_eq!(read_to_gap(&mut room).await, [] as [String; 0]);
    read_to(&mut room, "after").await;
    assert!(one.status().dropped > 0);
    // Nothing was lost that concerns it.
    one.publish("other", "untouched".to_owned());
    assert_eq!(next_text(&mut other).await, "untouched");
    assert_eq!(two.status().dropped, 0);
}

async fn what_was_on_its_way_when_a_node_was_cut_off_is_a_gap_for_the_others(server: &OwnServer) {
    let Some((proxy, one, two)) = server.nodes_with_proxy().await else { return };
    let mut room = two.subscribe("room").await.unwrap();
    one.publish("room", "before".to_owned());
    assert_eq!(next_text(&mut room).await, "before");
    // The server has confirmed it, so that the next message is sent at once.
    one.flush().await;
    proxy.stop_data();
    one.publish("room", "lost on its way".to_owned());
    until("it is sent", || one.status().queued == 0).await;
    proxy.set_enabled(false);
    proxy.restore();
    until_connected(&*one, false).await;
    proxy.set_enabled(true);
    assert_eq!(read_to_gap(&mut room).await, [] as [String; 0]);
    publish_until_received(&*one, "room", "after", &mut room).await;
}

async fn a_node_notices_that_it_is_cut_off_although_its_connection_stays_open(server: &OwnServer) {
    let Some((proxy, one, two)) = server.nodes_with_proxy().await else { return };
    let mut room = one.subscribe("room").await.unwrap();
    two.publish("room", "before".to_owned());
    assert_eq!(next_text(&mut room).await, "before");
    proxy.stop_data();
    two.publish("room", "missed".to_owned());
    until_connected(&*one, false).await;
    proxy.restore();
    assert_eq!(read_to_gap(&mut room).await, [] as [String; 0]);
    publish_until_received(&*two, "room", "after", &mut room).await;
}

async fn delays_change_neither_order_nor_content(server: &OwnServer) {
    let Some((proxy, one, two)) = server.nodes_with_proxy().await else { return };
    proxy.delay(30, 20);
    let mut away = two.subscribe("away").await.unwrap();
    let mut home = one.subscribe("home").await.unwrap();
    let texts: Vec<String> = (0..300).map(|n| format!("{n} {}", "x".repeat(n * 100))).collect();
    for text in &texts {
        one.publish("away", text.clone());
        two.publish("home", text.clone());
    }
    for text in &texts {
        assert!(next_text(&mut away).await == *text);
        assert!(next_text(&mut home).await == *text);
    }
}

async fn repeated_cuts_lose_nothing_without_a_gap(server: &OwnServer) {
    let Some((proxy, one, two)) = server.nodes_with_proxy().await else { return };
    let mut subscription = two.subscribe("room").await.unwrap();
    let publisher = tokio::spawn(async move {
        for n in 0..2000 {
            one.publish("room", n.to_string());
            if n % 200 == 199 {
                proxy.set_enabled(false);
                until_connected(&*one, false).await;
                proxy.set_enabled(true);
                until_connected(&*one, true).await;
            }
            tokio::task::yield_now().await;
        }
        // The connection that publishes may notice only now that it was cut, and then the message is lost.
        loop {
            one.publish("room", "end".to_owned());
            one.flush().await;
        }
    });
    let (mut last, mut gap) = (None, false);
    loop {
        match next(&mut subscription).await {
            Delivery::Gap => gap = true,
            Delivery::Message(text) if &*text == "end" => break,
            Delivery::Message(text) => {
                let number: u32 = text.parse().unwrap();
                let expected = last.map_or(0, |last| last + 1);
                assert!(
                    number == expected || (gap && number > expected),
                    "{number}, not {expected}"
                );
                (last, gap) = (Some(number), false);
            }
        }
    }
    publisher.abort();
}
