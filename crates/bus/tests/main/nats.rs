//! What is particular to the bus over NATS.

use serde_json::Value;
use test_support::servers::nats::{self, NatsServer};
use test_support::servers::toxiproxy::request;
use toolwright_bus::{Bus as _, Delivery, NatsBus};

use crate::backend::connect;
use crate::fixtures::{next, next_text, until, until_connected};

#[tokio::test]
async fn a_subscription_that_is_dropped_is_removed_from_the_server() {
    let Some(server) = NatsServer::start("") else { return };
    let subscriptions = || {
        let response = request(server.monitoring_port, "GET", "/subsz", &Value::Null).unwrap();
        response["num_subscriptions"].as_u64().unwrap()
    };
    let bus = connect(&server.url()).await;
    let before = subscriptions();
    let mut many = Vec::new();
    for n in 0..50 {
        many.push(bus.subscribe(&n.to_string()).await.unwrap());
    }
    assert_eq!(subscriptions(), before + 50);
    many.truncate(20);
    until("30 are removed", || subscriptions() == before + 20).await;
    drop((many, bus));
    until("none is left", || subscriptions() < before).await;
}

#[tokio::test]
async fn prefixes_of_subjects_keep_installations_apart() {
    let Some(server) = nats::shared() else { return };
    let urls = [server.url_with_new_prefix(), server.url_with_new_prefix()];
    let [one, two] = [connect(&urls[0]).await, connect(&urls[0]).await];
    let [three, four] = [connect(&urls[1]).await, connect(&urls[1]).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    let mut apart = four.subscribe("room").await.unwrap();
    one.publish("room", "to two".to_owned());
    assert_eq!(next_text(&mut subscription).await, "to two");
    three.publish("room", "to four".to_owned());
    assert_eq!(next_text(&mut apart).await, "to four");
}

#[tokio::test]
async fn a_server_with_a_small_limit_receives_messages_in_parts() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("nats.conf");
    std::fs::write(&file, "max_payload: 500\n").unwrap();
    let Some(server) = NatsServer::start(&format!("-c {}", file.display())) else { return };
    let [one, two] = [connect(&server.url()).await, connect(&server.url()).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    let text = "\u{1F980}\0".repeat(20_000);
    one.publish("room", text.clone());
    assert!(next_text(&mut subscription).await == text);
}

#[tokio::test]
async fn a_credential_in_the_url_is_used_and_never_shown() {
    let Some(server) = NatsServer::start("--user ada --pass hunter2,@") else { return };
    let url = |credential: &str| format!("nats://{credential}127.0.0.1:{}", server.port);
    let [one, two] =
        [connect(&url("ada:hunter2%2C%40@")).await, connect(&url("ada:hunter2%2C%40@")).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    one.publish("room", "hello".to_owned());
    assert_eq!(next_text(&mut subscription).await, "hello");
    for credential in ["ada:hunter3@", "hunter3@", ""] {
        let bus = NatsBus::connect(&url(credential)).await.unwrap();
        until_connected(&bus, false).await;
        let error = bus.status().error.unwrap_or_default();
        assert!(error.contains("authorization violation"), "{credential}: {error}");
        let debug = format!("{bus:?} {:?}", bus.status());
        assert!(!debug.contains("hunter"), "{debug}");
        assert!(debug.contains("127.0.0.1:"), "{debug}");
        assert!(bus.subscribe("room").await.is_ok());
    }
}

#[tokio::test]
async fn a_user_without_permission_is_an_error_of_the_status() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("nats.conf");
    let permissions = r#"
        authorization { users: [
            { user: good, password: p, permissions: { publish: "toolwright.>", subscribe: "toolwright.>" } }
            { user: bad, password: p, permissions: { publish: "other", subscribe: "toolwright.>" } }
        ] }"#;
    std::fs::write(&file, permissions).unwrap();
    let Some(server) = NatsServer::start(&format!("-c {}", file.display())) else { return };
    let url = |user: &str| format!("nats://{user}:p@127.0.0.1:{}", server.port);
    let [one, two] = [connect(&url("good")).await, connect(&url("good")).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    one.publish("room", "hello".to_owned());
    assert_eq!(next_text(&mut subscription).await, "hello");
    let bad = NatsBus::connect(&url("bad")).await.unwrap();
    bad.publish("room", "not allowed".to_owned());
    let is_refused = || bad.status().error.is_some_and(|error| error.contains("ermissions"));
    until("the server refuses it", is_refused).await;
}

#[tokio::test]
async fn tls_is_verified_with_the_certificates_of_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let certified = |name: &str| {
        let names = vec!["localhost".to_owned()];
        let certified = rcgen::generate_simple_self_signed(names).unwrap();
        std::fs::write(path(&format!("{name}.pem")), certified.cert.pem()).unwrap();
        std::fs::write(path(&format!("{name}.key")), certified.signing_key.serialize_pem())
            .unwrap();
    };
    certified("server");
    certified("other");
    let (certificate, key) = (path("server.pem"), path("server.key"));
    let arguments = format!("--tls --tlscert {} --tlskey {}", certificate.display(), key.display());
    let Some(server) = NatsServer::start(&arguments) else { return };
    let url = |name: &str| {
        format!("tls://localhost:{}?ca={}", server.port, path(&format!("{name}.pem")).display())
    };
    let [one, two] = [connect(&url("server")).await, connect(&url("server")).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    one.publish("room", "hello".to_owned());
    assert_eq!(next_text(&mut subscription).await, "hello");
    for url in [url("other"), format!("tls://localhost:{}", server.port)] {
        let bus = NatsBus::connect(&url).await.unwrap();
        assert!(
            bus.status().error.is_some_and(|error| error.contains("cannot be reached")),
            "{url}"
        );
    }
}

#[tokio::test]
async fn messages_of_other_programs_are_ignored() {
    let Some(server) = nats::shared() else { return };
    let url = server.url_with_new_prefix();
    let prefix = url.rsplit_once('/').unwrap().1.to_owned();
    let [one, two] = [connect(&url).await, connect(&url).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    let mut subjects = client.subscribe(format!("{prefix}.>")).await.unwrap();
    client.flush().await.unwrap();
    // Until the other client sees it, it is not subscribed.
    let subject = loop {
        one.publish("room", "first".to_owned());
        assert_eq!(next_text(&mut subscription).await, "first");
        let next = futures::FutureExt::now_or_never(futures::StreamExt::next(&mut subjects));
        if let Some(Some(message)) = next {
            break message.subject;
        }
    };
    for payload in [&b""[..], b"hello", b"\xff\xfe", b"1 node key 1 m\n", b"1 a b c d\nx"] {
        client.publish(subject.clone(), payload.into()).await.unwrap();
        client.publish(format!("{prefix}.all"), payload.into()).await.unwrap();
    }
    client.flush().await.unwrap();
    one.publish("room", "second".to_owned());
    assert_eq!(next_text(&mut subscription).await, "second");
    assert_eq!(two.status().refused, 0);
    // A message of a node with another protocol is lost, unlike one of another program.
    for n in 0..10 {
        client.publish(subject.clone(), format!("2 node {n}\nx").into()).await.unwrap();
    }
    client.flush().await.unwrap();
    drop(subjects);
    assert_eq!(next(&mut subscription).await, Delivery::Gap);
    one.publish("room", "third".to_owned());
    assert_eq!(next_text(&mut subscription).await, "third");
    assert_eq!(two.status().refused, 10);
}

#[tokio::test]
async fn what_the_server_refuses_is_an_error_until_it_accepts_messages_again() {
    // The subject of a channel, which depends on its name only.
    let Some(shared) = nats::shared() else { return };
    let url = shared.url_with_new_prefix();
    let (one, client) = (connect(&url).await, async_nats::connect(shared.url()).await.unwrap());
    let prefix = url.rsplit_once('/').unwrap().1;
    let mut subjects = client.subscribe(format!("{prefix}.>")).await.unwrap();
    // Once the server answers that there are no responders, it knows the subscription.
    client.request("no_responder", "".into()).await.unwrap_err();
    one.publish("room", "which subject?".to_owned());
    let message = futures::StreamExt::next(&mut subjects).await.unwrap();
    let subject = message.subject.as_str().rsplit_once('.').unwrap().1.to_owned();

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("nats.conf");
    let permissions = format!(
        r#"authorization {{ users: [ {{ user: ada, password: p, permissions: {{
            publish: {{ allow: "toolwright.>", deny: "toolwright.{subject}" }}, subscribe: "toolwright.>"
        }} }} ] }}"#
    );
    std::fs::write(&file, permissions).unwrap();
    let Some(server) = NatsServer::start(&format!("-c {}", file.display())) else { return };
    let bus = connect(&format!("nats://ada:p@127.0.0.1:{}", server.port)).await;
    bus.publish("room", "not allowed".to_owned());
    until("the server refuses it", || !bus.status().is_connected()).await;
    bus.publish("another room", "allowed".to_owned());
    until("the server accepts another one", || bus.status().is_connected()).await;
}
