//! Tests that need the private parts of the store: versions side by side, and a server that vanishes.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{join_all, try_join_all};
use test_support::servers::postgres::{self, NO_FSYNC, PostgresServer};
use test_support::servers::toxiproxy::Toxiproxy;
use toolwright_chat::{EntryBody, InboxBody};
use toolwright_core::Content;

use super::*;

const LONG: Duration = Duration::from_secs(600);

/// Those of the next version, which has a made-up step: programs of this one may use its tables.
const NEXT_MIGRATIONS: &[&str] = &[
    schema::MIGRATIONS[0],
    "CREATE TABLE toolwright_second (a text);
     ALTER TABLE toolwright_entries ADD COLUMN note text;
     ALTER TABLE toolwright_conversations ADD COLUMN note text",
];

fn user_entry(id: &str) -> Entry {
    let content = vec![Content::text("Hello")];
    Entry::new(id, 1, EntryBody::User { content })
}

/// Takes an item of the inbox into the journal, and returns the ids of all entries.
async fn work(store: &PostgresStore, holder: &str, id: &str) -> Vec<String> {
    let item = InboxItem::new(id, 0, InboxBody::Stop);
    let position = store.push_inbox("room", &item, 9).await.unwrap().unwrap();
    let lease = loop {
        match store.acquire("room", holder, LONG).await.unwrap() {
            Some(lease) => break lease,
            None => tokio::task::yield_now().await,
        }
    };
    let entries = [user_entry(id)];
    store.append(&lease, Append::new(&entries).taking(&[position])).await.unwrap();
    store.release(&lease).await.unwrap();
    let entries = store.load("room").await.unwrap();
    entries.into_iter().map(|entry| entry.id).collect()
}

#[tokio::test]
async fn a_node_of_the_version_before_goes_on_while_a_newer_one_migrates() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    let old = PostgresStore::connect(&url).await.unwrap();
    assert_eq!(work(&old, "old", "1").await, ["1"]);
    let new = PostgresStore::connect_with(&url, NEXT_MIGRATIONS).await.unwrap();
    let query = sqlx::query("SELECT note FROM toolwright_entries, toolwright_second");
    query.fetch_all(&new.database).await.unwrap();
    assert_eq!(work(&old, "old", "2").await, ["1", "2"]);
    assert_eq!(work(&new, "new", "3").await, ["1", "2", "3"]);
    new.shared_state().put("pin", "a", "b", None).await.unwrap();
    // It is restarted, as in an upgrade that is rolled back.
    let old = PostgresStore::connect(&url).await.unwrap();
    assert_eq!(work(&old, "old", "4").await, ["1", "2", "3", "4"]);
    assert_eq!(work(&new, "new", "5").await.len(), 5);
    let key = async |store: &PostgresStore| {
        store.signing_keys().await.unwrap().first().map(|key| key.expose().to_owned())
    };
    assert_eq!(key(&old).await, key(&new).await);
    assert_eq!(old.shared_state().get("pin", "a").await.unwrap().as_deref(), Some("b"));
}

#[tokio::test]
async fn nodes_of_both_versions_start_at_the_same_time() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url: Arc<str> = server.create_database().await.into();
    let tasks = (0..8).map(|n| {
        let url = Arc::clone(&url);
        tokio::spawn(async move {
            let steps = if n % 2 == 0 { schema::MIGRATIONS } else { NEXT_MIGRATIONS };
            let store = PostgresStore::connect_with(&url, steps).await.unwrap();
            work(&store, &format!("node {n}"), &n.to_string()).await;
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let store = PostgresStore::connect(&url).await.unwrap();
    let mut ids: Vec<String> =
        store.load("room").await.unwrap().into_iter().map(|entry| entry.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    store.shared_state().put("pin", "a", "b", None).await.unwrap();
}

/// As a machine that is switched off: its connections are neither answered nor closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_of_a_server_that_vanished_free_their_connections() {
    let Some(server) = PostgresServer::start(NO_FSYNC) else {
        return;
    };
    let Some(proxy) = Toxiproxy::start(server.port) else {
        return;
    };
    let mut store = PostgresStore::connect(&server.url_at(proxy.port, "postgres")).await.unwrap();
    store.database.query_timeout = Duration::from_secs(1);
    assert_eq!(work(&store, "node", "1").await, ["1"]);
    // Opens the maximum number of connections.
    try_join_all((0..40).map(|_| store.load("room"))).await.unwrap();
    proxy.stop_data();
    // Some callers do not wait.
    for _ in 0..4 {
        assert!(store.load("room").now_or_never().is_none());
    }
    let results = join_all((0..4).map(|_| store.load("room"))).await;
    assert!(results.iter().all(Result::is_err), "{results:?}");
    let error = results.into_iter().find_map(Result::err).unwrap().to_string();
    assert!(error.contains("cannot be reached"), "{error}");
    // Another server takes its place; the proxy stays as it is, so that no connection to the first is ever closed by it.
    let direct = server.url_at(server.port, "postgres").parse().unwrap();
    store.database.pool.set_connect_options(direct);
    let loaded = try_join_all((0..40).map(|_| store.load("room"))).await.unwrap();
    assert!(loaded.iter().all(|entries| entries.len() == 1));
    assert_eq!(work(&store, "node", "2").await, ["1", "2"]);
}
