//! The rows of a PostgreSQL database, for backups and checks.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Postgres, Row as _, Transaction};
use toolwright_chat::StoreError;

use super::inbox::read_inbox_row;
use super::journal::text_column;
use super::{PostgresStore, error};
use crate::codec::to_sql;
use crate::rows::{ConversationRow, Header, RowSource, Rows, RowsFuture, SharedRow};

struct PostgresRows {
    label: String,
    transaction: Transaction<'static, Postgres>,
}

impl RowSource for PostgresStore {
    fn snapshot(&self) -> RowsFuture<'_, Box<dyn Rows>> {
        Box::pin(self.begin_rows("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    }

    fn begin_restore(&self) -> RowsFuture<'_, Box<dyn Rows>> {
        Box::pin(self.begin_rows("BEGIN"))
    }
}

impl PostgresStore {
    async fn begin_rows(&self, begin: &'static str) -> Result<Box<dyn Rows>, StoreError> {
        let transaction = self.with_retry(|| self.database.pool.begin_with(begin)).await?;
        Ok(Box::new(PostgresRows { label: self.database.label.clone(), transaction }))
    }
}

impl Rows for PostgresRows {
    fn read_header(&mut self) -> RowsFuture<'_, Header> {
        let Self { label, transaction } = self;
        let read = async move {
            Ok(Header {
                conversations: sqlx::query_scalar(
                    "SELECT number FROM toolwright_conversations ORDER BY number",
                )
                .fetch_all(&mut **transaction)
                .await?,
                keys: sqlx::query_scalar("SELECT key FROM toolwright_keys ORDER BY number")
                    .fetch_all(&mut **transaction)
                    .await?,
                removed_term: sqlx::query_scalar("SELECT removed_term FROM toolwright_meta")
                    .fetch_one(&mut **transaction)
                    .await?,
                shared: read_shared(transaction).await?,
            })
        };
        Box::pin(async move { read.await.map_err(|error| error::store_error(label, error)) })
    }

    fn read_conversation(&mut self, number: i64) -> RowsFuture<'_, ConversationRow> {
        let Self { label, transaction } = self;
        let read = async move {
            let row = sqlx::query(
                "SELECT name, term, turn, last_position, title, entries, began, last
                 FROM toolwright_conversations WHERE number = $1",
            )
            .bind(number)
            .fetch_one(&mut **transaction)
            .await?;
            let entries = sqlx::query(
                "SELECT id, entry FROM toolwright_entries WHERE conversation = $1 ORDER BY seq",
            )
            .bind(number)
            .fetch_all(&mut **transaction)
            .await?;
            let entries = entries.iter().map(|row| Ok((text_column(row, 0)?, row.try_get(1)?)));
            let inbox = sqlx::query(
                "SELECT position, id, kind, payload, principal, peer, at, resumes
                 FROM toolwright_inbox WHERE conversation = $1 ORDER BY position",
            )
            .bind(number)
            .fetch_all(&mut **transaction)
            .await?;
            Ok(ConversationRow {
                name: text_column(&row, 0)?,
                term: row.try_get(1)?,
                turn: row.try_get(2)?,
                last_position: row.try_get(3)?,
                title: text_column(&row, 4)?,
                count: row.try_get(5)?,
                began: row.try_get(6)?,
                last: row.try_get(7)?,
                entries: entries.collect::<Result<_, sqlx::Error>>()?,
                inbox: inbox.iter().map(read_inbox_row).collect::<Result<_, sqlx::Error>>()?,
            })
        };
        Box::pin(async move { read.await.map_err(|error| error::store_error(label, error)) })
    }

    fn write_header<'a>(&'a mut self, header: &'a Header) -> RowsFuture<'a, ()> {
        let Self { label, transaction } = self;
        let write = async move {
            sqlx::query("DELETE FROM toolwright_keys").execute(&mut **transaction).await?;
            for key in &header.keys {
                sqlx::query("INSERT INTO toolwright_keys (key) VALUES ($1)")
                    .bind(key)
                    .execute(&mut **transaction)
                    .await?;
            }
            sqlx::query("UPDATE toolwright_meta SET removed_term = greatest(removed_term, $1)")
                .bind(header.removed_term)
                .execute(&mut **transaction)
                .await?;
            sqlx::query("DELETE FROM toolwright_shared").execute(&mut **transaction).await?;
            for row in &header.shared {
                sqlx::query("INSERT INTO toolwright_shared VALUES ($1, $2, $3, NULL)")
                    .bind(&row.space)
                    .bind(row.key.as_bytes())
                    .bind(row.value.as_bytes())
                    .execute(&mut **transaction)
                    .await?;
            }
            Ok(())
        };
        Box::pin(async move { write.await.map_err(|error| error::store_error(label, error)) })
    }

    fn write_conversation<'a>(&'a mut self, row: &'a ConversationRow) -> RowsFuture<'a, ()> {
        let Self { label, transaction } = self;
        let write = async move {
            let number: i64 = sqlx::query_scalar(
                "INSERT INTO toolwright_conversations
                     (name, term, turn, last_position, title, entries, began, last, next)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING number",
            )
            .bind(row.name.as_bytes())
            .bind(row.term)
            .bind(row.turn)
            .bind(row.last_position)
            .bind(row.title.as_bytes())
            .bind(row.count)
            .bind(row.began)
            .bind(row.last)
            .bind(to_sql(row.entries.len()))
            .fetch_one(&mut **transaction)
            .await?;
            let ids: Vec<&[u8]> = row.entries.iter().map(|(id, _)| id.as_bytes()).collect();
            let texts: Vec<&str> = row.entries.iter().map(|(_, text)| text.as_str()).collect();
            sqlx::query(
                "INSERT INTO toolwright_entries (conversation, seq, id, entry)
                 SELECT $1, given.nth, given.id, given.entry
                 FROM unnest($2::bytea[], $3::text[]) WITH ORDINALITY AS given (id, entry, nth)",
            )
            .bind(number)
            .bind(ids)
            .bind(texts)
            .execute(&mut **transaction)
            .await?;
            for item in &row.inbox {
                sqlx::query(
                    "INSERT INTO toolwright_inbox VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                )
                .bind(number)
                .bind(item.position)
                .bind(item.id.as_bytes())
                .bind(&item.kind)
                .bind(&item.payload)
                .bind(&item.principal)
                .bind(item.peer.as_ref().map(String::as_bytes))
                .bind(item.at)
                .bind(item.resumes)
                .execute(&mut **transaction)
                .await?;
            }
            Ok(())
        };
        Box::pin(async move { write.await.map_err(|error| error::store_error(label, error)) })
    }

    fn commit(self: Box<Self>) -> RowsFuture<'static, ()> {
        let Self { label, transaction } = *self;
        Box::pin(async move {
            transaction.commit().await.map_err(|error| error::store_error(&label, error))
        })
    }
}

/// Reads the shared values that never expire.
async fn read_shared(connection: &mut PgConnection) -> Result<Vec<SharedRow>, sqlx::Error> {
    let rows = sqlx::query("SELECT space, key, value FROM toolwright_shared WHERE expires IS NULL")
        .fetch_all(connection)
        .await?;
    let read = |row: &PgRow| {
        let (space, key, value) = (row.try_get(0)?, text_column(row, 1)?, text_column(row, 2)?);
        Ok(SharedRow { space, key, value })
    };
    rows.iter().map(read).collect()
}
