//! Tests of the PostgreSQL store's database: migrations, permissions, URLs and encodings.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use test_support::servers::postgres;
use toolwright::chat::Store as _;
use toolwright_store::PostgresStore;

use crate::fixtures::{append, encode, numbered_entries};

mod connection_loss;

pub(crate) async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = AssertSqlSafe(sql.to_owned());
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
}

pub(crate) async fn count_rows(url: &str, table: &str) -> i64 {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

async fn connect_error(url: &str) -> String {
    let error = PostgresStore::connect(url).await.expect_err("it cannot be used");
    error.to_string()
}

#[tokio::test]
async fn an_entry_is_stored_as_its_json_text() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    let store = PostgresStore::connect(&url).await.unwrap();
    let entries = numbered_entries(0, 3);
    append(&store, "room", &entries).await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let rows = sqlx::query("SELECT entry FROM toolwright_entries ORDER BY seq");
    let rows = rows.fetch_all(&mut connection).await.unwrap();
    let stored: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(stored, encode(&entries));
}

#[tokio::test]
async fn many_nodes_migrate_an_empty_database_at_the_same_time() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    let tasks = (0..8).map(|n| {
        let url = url.clone();
        tokio::spawn(async move {
            let store = PostgresStore::connect(&url).await.unwrap();
            append(&store, &format!("room {n}"), &numbered_entries(0, 5)).await;
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let store = PostgresStore::connect(&url).await.unwrap();
    assert_eq!(store.list(99).await.unwrap().len(), 8);
}

#[tokio::test]
async fn tables_of_a_newer_version_are_refused_and_stay_as_they_are() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    drop(PostgresStore::connect(&url).await.unwrap());
    execute(&url, "UPDATE toolwright_version SET version = 99").await;
    execute(&url, "UPDATE toolwright_meta SET oldest_reader = 7").await;
    let error = connect_error(&url).await;
    assert!(error.contains("has tables of version 99"), "{error}");
    assert!(error.contains("up to version 6:"), "{error}");
    // Unless they allow it.
    execute(&url, "UPDATE toolwright_meta SET oldest_reader = 6").await;
    let store = PostgresStore::connect(&url).await.unwrap();
    append(&store, "room", &numbered_entries(0, 1)).await;
}

#[tokio::test]
async fn tables_of_a_development_version_are_refused_and_stay_as_they_are() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    let version = "CREATE TABLE toolwright_version (version bigint NOT NULL);
                   INSERT INTO toolwright_version VALUES (4)";
    execute(&url, version).await;
    let error = connect_error(&url).await;
    assert!(error.contains(" has tables of version 4, which only development"), "{error}");
    assert!(error.contains("`toolwright conversations export`"), "{error}");
    assert_eq!(count_rows(&url, "toolwright_version WHERE version = 4").await, 1);
    assert_eq!(count_rows(&url, "pg_class WHERE relname LIKE 'toolwright%'").await, 1);
}

#[tokio::test]
async fn a_migration_that_fails_changes_nothing() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    // Conflicts with the last table of the step.
    execute(&url, "CREATE TABLE toolwright_shared (mine text)").await;
    connect_error(&url).await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let rows = sqlx::query("SELECT relname::text FROM pg_class WHERE relname LIKE 'toolwright%'");
    let rows = rows.fetch_all(&mut connection).await.unwrap();
    let tables: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(tables, ["toolwright_shared"]);
}

#[tokio::test]
async fn a_user_needs_no_right_to_create_tables() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    drop(PostgresStore::connect(&url).await.unwrap());
    let role = url.rsplit('/').next().unwrap_or_default().len() + std::process::id() as usize;
    let role = format!("worker{role}");
    execute(
        &url,
        &format!(
            "CREATE ROLE {role} LOGIN;
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
        ),
    )
    .await;
    let worker = url.replace("user=toolwright", &format!("user={role}"));
    let store = PostgresStore::connect(&worker).await.unwrap();
    append(&store, "room", &numbered_entries(0, 2)).await;
    // Without any rights the error states the remedy.
    execute(&url, &format!("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}")).await;
    let error = store.load("room").await.unwrap_err().to_string();
    assert!(error.contains("denies permission: grant"), "{error}");
}

#[tokio::test]
async fn errors_about_a_url_omit_its_password() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.url("nowhere");
    let error = connect_error(&url).await;
    assert!(error.contains("the database `nowhere` at "), "{error}");
    assert!(error.contains("is not there: make it with `createdb`"), "{error}");
    let url = url.replace("user=toolwright", "user=unknown&password=hunter2");
    let error = PostgresStore::connect(&url).await.unwrap_err();
    assert!(error.to_string().contains("refuses the user"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"));
    for url in ["postgres:", "postgres://me:hunter2@[x/y", "postgres://h:hunter2:1/x"] {
        let error = PostgresStore::connect(url).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}

#[tokio::test]
async fn a_database_without_unicode_is_refused() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let mut connection = server.connect("postgres").await;
    let create = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0";
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    let error = connect_error(&server.url("latin")).await;
    assert!(error.contains("has the encoding LATIN1"), "{error}");
}
