//! Journals that version 0.1 wrote to PostgreSQL are migrated and resume.

use std::sync::Arc;

use sqlx::{Connection as _, PgConnection};
use test_support::servers::postgres;
use toolwright::chat::Store as _;
use toolwright::testing::ScriptedModel;
use toolwright_store::PostgresStore;

use super::execute;
use crate::fixtures::{Log, acquire, chat, encode, pay_tool};
use crate::sqlite::old_journals::JOURNALS;

const TABLES: &str = include_str!("../../fixtures/postgres-0.1.sql");

/// Creates the old tables, and copies the old journals into them. Returns the URL and the JSON of the entries.
async fn old_database() -> Option<(String, Vec<(i64, String, String)>)> {
    let url = postgres::shared()?.create_database().await;
    execute(&url, TABLES).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("journals.db");
    crate::sqlite::execute(&file, JOURNALS).await;
    let mut from = crate::sqlite::connect(&file).await;
    let mut to = PgConnection::connect(&url).await.unwrap();
    let query = "SELECT name, entries, title, began, last FROM conversations ORDER BY number";
    let rows: Vec<(String, i64, String, i64, i64)> =
        sqlx::query_as(query).fetch_all(&mut from).await.unwrap();
    for (name, entries, title, began, last) in rows {
        let insert =
            "INSERT INTO toolwright_conversations (name, next, entries, title, began, last)
                      VALUES ($1, 40, $2, $3, $4, $5)";
        let insert = sqlx::query(insert).bind(name.into_bytes()).bind(entries);
        let insert = insert.bind(title.into_bytes()).bind(began).bind(last);
        insert.execute(&mut to).await.unwrap();
    }
    let query = "SELECT seq, conversation, id, entry FROM entries ORDER BY seq";
    let rows: Vec<(i64, i64, String, String)> =
        sqlx::query_as(query).fetch_all(&mut from).await.unwrap();
    for (seq, conversation, id, entry) in &rows {
        let insert = "INSERT INTO toolwright_entries (conversation, seq, id, entry)
                      VALUES ($1, $2, $3, $4)";
        let insert = sqlx::query(insert).bind(conversation).bind(seq);
        insert.bind(id.as_bytes()).bind(entry).execute(&mut to).await.unwrap();
    }
    execute(&url, "INSERT INTO toolwright_key (key) VALUES ('an old key')").await;
    let rows = rows.into_iter().map(|(_, conversation, id, entry)| (conversation, id, entry));
    Some((url, rows.collect()))
}

#[tokio::test]
async fn old_tables_are_migrated_and_their_journals_resume() {
    let Some((url, rows)) = old_database().await else {
        return;
    };
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let mut count = 0;
    for (number, name) in (1..).zip(["paused", "approved", "each-kind", "@ada/interrupted"]) {
        let entries = encode(&store.load(name).await.unwrap());
        let stored = rows.iter().filter(|(conversation, ..)| *conversation == number);
        assert_eq!(entries, stored.map(|(.., entry)| entry.clone()).collect::<Vec<_>>());
        count += entries.len();
    }
    assert_eq!(count, rows.len());
    let keys = store.signing_keys().await.unwrap();
    assert!(keys.len() == 1 && keys[0].expose() == "an old key");

    assert_eq!(store.list_unattended(9).await.unwrap(), ["@ada/interrupted"]);
    let model = ScriptedModel::new().replies("Yes.");
    let interrupted = chat(model, Vec::new(), store.clone()).resume("@ada/interrupted");
    assert_eq!(interrupted.call().await.unwrap().text(), "Yes.");
    assert!(store.list_unattended(9).await.unwrap().is_empty());
    let model = ScriptedModel::new().replies("It is not paid.");
    let paused = chat(model, vec![pay_tool(&Log::default())], store.clone()).resume("paused");
    let paused = paused.call().await.unwrap();
    // The approval is pending, or has expired: it was requested for one day.
    let is_denied = paused.text() == "It is not paid.";
    assert_eq!(paused.pending_approvals().len(), usize::from(!is_denied));
    assert!(acquire(&*store, "paused").await.term >= 2);
}
