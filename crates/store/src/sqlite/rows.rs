//! The rows of a SQLite file, for backups and checks.

use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, SqliteConnection, Transaction};

use super::inbox::{insert_inbox_row, read_inbox_row};
use super::{SqliteStore, error};
use crate::rows::{ConversationRow, Header, RowSource, Rows, RowsFuture, SharedRow};

struct SqliteRows {
    path: PathBuf,
    transaction: Transaction<'static, Sqlite>,
}

impl RowSource for SqliteStore {
    fn snapshot(&self) -> RowsFuture<'_, Box<dyn Rows>> {
        Box::pin(async {
            let transaction = self.run(self.readers.begin()).await?;
            Ok(Box::new(SqliteRows { path: self.path.clone(), transaction }) as Box<dyn Rows>)
        })
    }

    fn begin_restore(&self) -> RowsFuture<'_, Box<dyn Rows>> {
        Box::pin(async {
            let transaction = self.run(self.writer.pool.begin_with("BEGIN IMMEDIATE")).await?;
            Ok(Box::new(SqliteRows { path: self.path.clone(), transaction }) as Box<dyn Rows>)
        })
    }

    fn copy_into<'a>(&'a self, file: &'a Path) -> RowsFuture<'a, ()> {
        Box::pin(self.copy_file_into(file))
    }
}

impl Rows for SqliteRows {
    fn read_header(&mut self) -> RowsFuture<'_, Header> {
        let Self { path, transaction } = self;
        let read = async move {
            Ok(Header {
                conversations: sqlx::query_scalar(
                    "SELECT number FROM conversations ORDER BY number",
                )
                .fetch_all(&mut **transaction)
                .await?,
                keys: sqlx::query_scalar("SELECT key FROM keys ORDER BY number")
                    .fetch_all(&mut **transaction)
                    .await?,
                removed_term: sqlx::query_scalar("SELECT removed_term FROM meta")
                    .fetch_one(&mut **transaction)
                    .await?,
                shared: read_shared(transaction).await?,
            })
        };
        Box::pin(async move { read.await.map_err(|error| error::store_error(path, error)) })
    }

    fn read_conversation(&mut self, number: i64) -> RowsFuture<'_, ConversationRow> {
        let Self { path, transaction } = self;
        let read = async move {
            let row = sqlx::query(
                "SELECT name, term, turn, last_position, title, entries, began, last
                 FROM conversations WHERE number = ?",
            )
            .bind(number)
            .fetch_one(&mut **transaction)
            .await?;
            let entries =
                sqlx::query_as("SELECT id, entry FROM entries WHERE conversation = ? ORDER BY seq")
                    .bind(number)
                    .fetch_all(&mut **transaction)
                    .await?;
            let inbox = sqlx::query(
                "SELECT position, id, kind, payload, principal, peer, at, resumes FROM inbox
                 WHERE conversation = ? ORDER BY position",
            )
            .bind(number)
            .fetch_all(&mut **transaction)
            .await?;
            Ok(ConversationRow {
                name: row.try_get(0)?,
                term: row.try_get(1)?,
                turn: row.try_get(2)?,
                last_position: row.try_get(3)?,
                title: row.try_get(4)?,
                count: row.try_get(5)?,
                began: row.try_get(6)?,
                last: row.try_get(7)?,
                entries,
                inbox: inbox.iter().map(read_inbox_row).collect::<Result<_, sqlx::Error>>()?,
            })
        };
        Box::pin(async move { read.await.map_err(|error| error::store_error(path, error)) })
    }

    fn write_header<'a>(&'a mut self, header: &'a Header) -> RowsFuture<'a, ()> {
        let Self { path, transaction } = self;
        let write = async move {
            sqlx::query("DELETE FROM keys").execute(&mut **transaction).await?;
            for key in &header.keys {
                sqlx::query("INSERT INTO keys (key) VALUES (?)")
                    .bind(key)
                    .execute(&mut **transaction)
                    .await?;
            }
            sqlx::query("UPDATE meta SET removed_term = max(removed_term, ?)")
                .bind(header.removed_term)
                .execute(&mut **transaction)
                .await?;
            sqlx::query("DELETE FROM shared").execute(&mut **transaction).await?;
            for row in &header.shared {
                sqlx::query("INSERT INTO shared VALUES (?, ?, ?, NULL)")
                    .bind(&row.space)
                    .bind(&row.key)
                    .bind(&row.value)
                    .execute(&mut **transaction)
                    .await?;
            }
            Ok(())
        };
        Box::pin(async move { write.await.map_err(|error| error::store_error(path, error)) })
    }

    fn write_conversation<'a>(&'a mut self, row: &'a ConversationRow) -> RowsFuture<'a, ()> {
        let Self { path, transaction } = self;
        let write = async move {
            let number: i64 = sqlx::query_scalar(
                "INSERT INTO conversations
                     (name, term, turn, last_position, title, entries, began, last)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            )
            .bind(&row.name)
            .bind(row.term)
            .bind(row.turn)
            .bind(row.last_position)
            .bind(&row.title)
            .bind(row.count)
            .bind(row.began)
            .bind(row.last)
            .fetch_one(&mut **transaction)
            .await?;
            for (id, entry) in &row.entries {
                sqlx::query("INSERT INTO entries (conversation, id, entry) VALUES (?, ?, ?)")
                    .bind(number)
                    .bind(id)
                    .bind(entry)
                    .execute(&mut **transaction)
                    .await?;
            }
            for item in &row.inbox {
                insert_inbox_row(transaction, number, item).await?;
            }
            Ok(())
        };
        Box::pin(async move { write.await.map_err(|error| error::store_error(path, error)) })
    }

    fn commit(self: Box<Self>) -> RowsFuture<'static, ()> {
        let Self { path, transaction } = *self;
        Box::pin(async move {
            transaction.commit().await.map_err(|error| error::store_error(&path, error))
        })
    }
}

/// Reads the shared values that never expire.
async fn read_shared(connection: &mut SqliteConnection) -> Result<Vec<SharedRow>, sqlx::Error> {
    let rows = sqlx::query("SELECT space, key, value FROM shared WHERE expires IS NULL")
        .fetch_all(connection)
        .await?;
    let read = |row: &SqliteRow| {
        let (space, key, value) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        Ok(SharedRow { space, key, value })
    };
    rows.iter().map(read).collect()
}
