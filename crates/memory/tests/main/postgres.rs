//! What the PostgreSQL store has of its own: a server, and what can become of it.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use toolwright::chat::Store as _;
use toolwright_memory::PostgresStore;

use crate::fixtures::{several, tell, texts};
use crate::server;

mod connection_loss;

async fn run(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = AssertSqlSafe(sql.to_owned());
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
}

async fn refused(url: &str) -> String {
    let error = PostgresStore::connect(url)
        .await
        .expect_err("it cannot be used");
    error.to_string()
}

#[tokio::test]
async fn an_entry_is_kept_as_the_text_it_was_written_as() {
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.create_database().await;
    let store = PostgresStore::connect(&url).await.unwrap();
    let entries = several(0, 3);
    tell(&store, "room", &entries).await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let rows = sqlx::query("SELECT entry FROM toolwright_entries ORDER BY seq");
    let rows = rows.fetch_all(&mut connection).await.unwrap();
    let kept: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(kept, texts(&entries));
}

#[tokio::test]
async fn many_nodes_start_with_an_empty_database() {
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.create_database().await;
    let tasks = (0..8).map(|n| {
        let url = url.clone();
        tokio::spawn(async move {
            let store = PostgresStore::connect(&url).await.unwrap();
            tell(&store, &format!("room {n}"), &several(0, 5)).await;
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
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.create_database().await;
    drop(PostgresStore::connect(&url).await.unwrap());
    run(&url, "UPDATE toolwright_version SET version = 99").await;
    let error = refused(&url).await;
    assert!(error.contains("has tables of version 99"), "{error}");
    assert!(error.contains("up to version 2:"), "{error}");
    run(&url, "UPDATE toolwright_version SET version = 2").await;
    PostgresStore::connect(&url).await.unwrap();
}

#[tokio::test]
async fn a_step_that_fails_changes_nothing() {
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.create_database().await;
    // In the way of the step's last table.
    run(&url, "CREATE TABLE toolwright_key (mine text)").await;
    refused(&url).await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let rows = sqlx::query("SELECT relname::text FROM pg_class WHERE relname LIKE 'toolwright%'");
    let rows = rows.fetch_all(&mut connection).await.unwrap();
    let tables: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(tables, ["toolwright_key"]);
}

#[tokio::test]
async fn a_user_who_may_only_use_the_tables_is_enough() {
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.create_database().await;
    drop(PostgresStore::connect(&url).await.unwrap());
    let role = url.rsplit('/').next().unwrap_or_default().len() + std::process::id() as usize;
    let role = format!("worker{role}");
    run(
        &url,
        &format!(
            "CREATE ROLE {role} LOGIN;
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
        ),
    )
    .await;
    let worker = url.replace("user=toolwright", &format!("user={role}"));
    let store = PostgresStore::connect(&worker).await.unwrap();
    tell(&store, "room", &several(0, 2)).await;
    // One who may nothing is told so.
    run(
        &url,
        &format!("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}"),
    )
    .await;
    let error = store.load("room").await.unwrap_err().to_string();
    assert!(error.contains("does not allow it: grant"), "{error}");
}

#[tokio::test]
async fn what_is_wrong_with_a_url_is_said_without_its_password() {
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.url("nowhere");
    let error = refused(&url).await;
    assert!(error.contains("the database `nowhere` at "), "{error}");
    assert!(
        error.contains("is not there: make it with `createdb`"),
        "{error}"
    );
    let url = url.replace("user=toolwright", "user=nobody&password=hunter2");
    let error = PostgresStore::connect(&url).await.unwrap_err();
    assert!(error.to_string().contains("refuses the user"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"));
    for url in [
        "postgres:",
        "postgres://me:hunter2@[x/y",
        "postgres://h:hunter2:1/x",
    ] {
        let error = PostgresStore::connect(url).await.unwrap_err();
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_database_that_has_not_all_letters_is_refused() {
    let Some(server) = server::shared() else {
        return;
    };
    let mut connection = server.connect("postgres").await;
    let create = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0";
    sqlx::raw_sql(create)
        .execute(&mut connection)
        .await
        .unwrap();
    let error = refused(&server.url("latin")).await;
    assert!(error.contains("keeps text as LATIN1"), "{error}");
}
