//! What is particular to the bus over PostgreSQL.

use std::sync::Arc;

use test_support::servers::postgres;
use toolwright_bus::{Bus as _, Delivery, PostgresBus};

use crate::backend::connect;
use crate::fixtures::{next, next_text};

#[tokio::test]
async fn installations_in_schemas_of_one_database_stay_apart() {
    let Some(server) = postgres::shared() else { return };
    let database = server.create_named_database().await;
    server.execute(&database, r#"CREATE SCHEMA "A b"; CREATE SCHEMA other"#).await;
    let url = |schema: &str| {
        let url = server.url_at(server.port, &database);
        format!("{url}?options=-c%20search_path%3D{schema}")
    };
    let [one, two] = [connect(&url("%22A%5C%20b%22")).await, connect(&url("%22A%5C%20b%22")).await];
    let other = connect(&url("other")).await;
    let mut subscription = two.subscribe("room").await.unwrap();
    let mut apart = other.subscribe("room").await.unwrap();
    one.publish("room", "to two".to_owned());
    assert_eq!(next_text(&mut subscription).await, "to two");
    connect(&url("other")).await.publish("room", "to the other".to_owned());
    assert_eq!(next_text(&mut apart).await, "to the other");
}

#[tokio::test]
async fn notifications_of_other_programs_are_ignored() {
    let Some(server) = postgres::shared() else { return };
    let database = server.create_named_database().await;
    let url = server.url_at(server.port, &database);
    let [one, two] = [connect(&url).await, connect(&url).await];
    let mut subscription = two.subscribe("room").await.unwrap();
    for payload in ["", "hello", "1 a b c m\n", "1\n", "\u{1F980}\n"] {
        let notify = format!("SELECT pg_notify('toolwright_bus_public', '{payload}')");
        server.execute(&database, &notify).await;
    }
    one.publish("room", "hello".to_owned());
    assert_eq!(next_text(&mut subscription).await, "hello");
    assert_eq!(two.status().refused, 0);
    // A message of a node with another protocol is lost, unlike one of another program.
    server.execute(&database, "SELECT pg_notify('toolwright_bus_public', E'2 node\\nx')").await;
    assert_eq!(next(&mut subscription).await, Delivery::Gap);
    assert_eq!(two.status().refused, 1);
    one.publish("room", "again".to_owned());
    assert_eq!(next_text(&mut subscription).await, "again");
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_an_error_of_the_status_without_the_password() {
    let Some(server) = postgres::shared() else { return };
    server.execute("postgres", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0").await;
    server.execute("postgres", "CREATE DATABASE bare").await;
    server.execute("bare", "DROP SCHEMA public").await;
    let expected = [
        ("missing", "is not there: make it with `createdb`"),
        ("latin", "has the encoding LATIN1: create it with UTF8"),
        ("bare", "has none of the schemas of the search path"),
    ];
    for (database, expected) in expected {
        let url = format!("postgres://toolwright:hunter2@127.0.0.1:{}/{database}", server.port);
        let bus = PostgresBus::connect(&url).await.unwrap();
        let error = bus.status().error.unwrap_or_default();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains(&format!("the database `{database}` at `127.0.0.1:")), "{error}");
        let debug = format!("{bus:?} {:?}", bus.status());
        assert!(!debug.contains("hunter2"), "{debug}");
        // It accepts subscriptions and messages nevertheless.
        let bus = Arc::new(bus);
        bus.publish("room", "hello".to_owned());
        assert!(bus.subscribe("room").await.is_ok());
    }
}
