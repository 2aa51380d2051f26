//! Appends to, reads, lists and deletes journals.

use sqlx::postgres::PgRow;
use sqlx::{Connection as _, PgConnection, Postgres, Row as _, Transaction};
use toolwright_chat::{Append, ConversationSummary, Lease, Owner, TailEnd, entry_title};

use super::PostgresStore;
use super::connection::within;
use crate::codec::{ListFilter, from_sql, to_sql, turn_to_sql};
use crate::write_load::Appended;

impl PostgresStore {
    /// Appends entries that are not stored yet, and removes items from the inbox, in one round trip; returns false if the lease
    /// is not held.
    ///
    /// Always durable: the database may crash while this process lives on, with later entries in its memory.
    pub(super) async fn append_entries(
        &self,
        lease: &Lease,
        append: Append<'_>,
        texts: &[String],
    ) -> Result<Appended, sqlx::Error> {
        let entries = append.entries;
        let ids: Vec<&[u8]> = entries.iter().map(|entry| entry.id.as_bytes()).collect();
        let times: Vec<i64> = entries.iter().map(|entry| to_sql(entry.at)).collect();
        let title = entries.first().map(entry_title).unwrap_or_default();
        let taken: Vec<i64> = append.taken.iter().map(|position| to_sql(*position)).collect();
        let outcome: i64 =
            sqlx::query_scalar("SELECT toolwright_append($1, $2, $3, $4, $5, $6, $7, $8, $9)")
                .bind(lease.conversation.as_bytes())
                .bind(lease.holder.as_bytes())
                .bind(to_sql(lease.term))
                .bind(ids)
                .bind(times)
                .bind(texts)
                .bind(title.as_bytes())
                .bind(taken)
                .bind(turn_to_sql(append.turn))
                .fetch_one(&self.database)
                .await?;
        Ok(match outcome {
            0 => Appended::Done,
            1 => Appended::LeaseLost,
            _ => Appended::ItemWithdrawn,
        })
    }

    /// Returns the JSON texts of the last entries up to `end`, newest first.
    pub(super) async fn entry_rows(
        &self,
        conversation: &str,
        end: TailEnd<'_>,
        limit: usize,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let (end, skipped) = match end {
            TailEnd::Newest => (None, 0),
            TailEnd::Before(id) => (Some(id), 1_i64),
            TailEnd::At(id) => (Some(id), 0),
        };
        let query = match end {
            None => sqlx::query(
                "SELECT entry FROM toolwright_entries
                 WHERE conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)
                 ORDER BY seq DESC LIMIT $2",
            )
            .bind(conversation.as_bytes()),
            Some(end) => sqlx::query(
                "SELECT entry FROM toolwright_entries
                 WHERE conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)
                 AND seq <= (
                     SELECT seq - $3 FROM toolwright_entries
                     WHERE conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)
                     AND id = $2
                 )
                 ORDER BY seq DESC LIMIT $4",
            )
            .bind(conversation.as_bytes())
            .bind(end.as_bytes())
            .bind(skipped),
        };
        query.bind(to_sql(limit)).fetch_all(&self.database).await
    }

    /// Lists conversations in the order that the filter has.
    pub(super) async fn summaries(
        &self,
        filter: ListFilter<'_>,
        limit: usize,
    ) -> Result<Vec<ConversationSummary>, sqlx::Error> {
        let query = match filter {
            ListFilter::All => {
                "SELECT name, title, entries, began, last FROM toolwright_conversations
                 WHERE entries > 0 ORDER BY last DESC, name LIMIT $1"
            }
            ListFilter::OwnedBy(Owner::Operator) => {
                "SELECT name, title, entries, began, last FROM toolwright_conversations
                 WHERE entries > 0 AND NOT (name >= $2 AND name < $3)
                 ORDER BY last DESC, name LIMIT $1"
            }
            ListFilter::OwnedBy(_) => {
                "SELECT name, title, entries, began, last FROM toolwright_conversations
                 WHERE entries > 0 AND name >= $2 AND name < $3
                 ORDER BY last DESC, name LIMIT $1"
            }
            ListFilter::OlderThan(_) => {
                "SELECT name, title, entries, began, last FROM toolwright_conversations
                 WHERE entries > 0 AND last < $2 ORDER BY last, name DESC LIMIT $1"
            }
        };
        let query = sqlx::query(query).bind(to_sql(limit));
        let query = match filter {
            ListFilter::All => query,
            ListFilter::OwnedBy(owner) => {
                let names = owner.stored_name_range();
                query.bind(names.start.into_bytes()).bind(names.end.into_bytes())
            }
            ListFilter::OlderThan(time) => query.bind(to_sql(time)),
        };
        let rows = query.fetch_all(&self.database).await?;
        let summaries = rows.iter().map(|row| {
            let mut summary = ConversationSummary::empty(text_column(row, 0)?);
            summary.title = text_column(row, 1)?;
            summary.entries = row.try_get(2).map(from_sql)?;
            summary.began = row.try_get(3).map(from_sql)?;
            summary.last = row.try_get(4).map(from_sql)?;
            Ok(summary)
        });
        summaries.collect()
    }

    /// Deletes all entries of a conversation and its inbox; returns false if it had none, and `None` if the lease is not held.
    ///
    /// With a time, only if the last entry is older, the turn is over and the inbox is empty; otherwise returns false.
    pub(super) async fn delete_conversation(
        &self,
        lease: &Lease,
        expired_before: Option<u64>,
    ) -> Result<Option<bool>, sqlx::Error> {
        let mut connection = self.database.acquire().await?;
        let delete = delete_conversation(&mut connection, lease, expired_before);
        // Long conversations take longer than other queries.
        let deleted = within(6 * self.database.query_timeout, delete).await?;
        connection.release();
        deleted
    }

    /// Writes an entry that belongs to no conversation.
    pub(super) async fn probe(&self) -> Result<(), sqlx::Error> {
        sqlx::query(
            "INSERT INTO toolwright_entries (conversation, seq, id, entry)
             VALUES (0, 0, 'probe', clock_timestamp()::text)
             ON CONFLICT (conversation, seq) DO UPDATE SET entry = excluded.entry",
        )
        .execute(&self.database)
        .await?;
        Ok(())
    }

    /// Returns the stored keys, the newest first; stores `new_key` if there are none.
    pub(super) async fn load_or_insert_keys(
        &self,
        new_key: &str,
    ) -> Result<Vec<String>, sqlx::Error> {
        let keys = self.load_keys().await?;
        if !keys.is_empty() {
            return Ok(keys);
        }
        let mut connection = self.database.acquire().await?;
        let inserted = self.database.within_timeout(insert_key(&mut connection, new_key)).await?;
        connection.release();
        inserted?;
        self.load_keys().await
    }

    async fn load_keys(&self) -> Result<Vec<String>, sqlx::Error> {
        sqlx::query_scalar("SELECT key FROM toolwright_keys ORDER BY number DESC")
            .fetch_all(&self.database)
            .await
    }

    /// Adds a key, and removes all but the newest `keep`.
    pub(super) async fn rotate_keys(&self, new_key: &str, keep: usize) -> Result<(), sqlx::Error> {
        let mut connection = self.database.acquire().await?;
        let rotate = rotate_keys(&mut connection, new_key, keep);
        let rotated = self.database.within_timeout(rotate).await?;
        connection.release();
        rotated
    }
}

async fn delete_conversation(
    connection: &mut PgConnection,
    lease: &Lease,
    expired_before: Option<u64>,
) -> Result<Option<bool>, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let leased: Option<i64> = sqlx::query_scalar(
        "SELECT number FROM toolwright_conversations
         WHERE name = $1 AND holder = $2 AND term = $3 FOR UPDATE",
    )
    .bind(lease.conversation.as_bytes())
    .bind(lease.holder.as_bytes())
    .bind(to_sql(lease.term))
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(number) = leased else {
        return Ok(None);
    };
    if let Some(time) = expired_before {
        let is_expired: bool = sqlx::query_scalar(
            "SELECT turn = 0 AND last < $2
             AND NOT EXISTS (SELECT 1 FROM toolwright_inbox WHERE conversation = $1)
             FROM toolwright_conversations WHERE number = $1",
        )
        .bind(number)
        .bind(to_sql(time))
        .fetch_one(&mut *transaction)
        .await?;
        if !is_expired {
            return Ok(Some(false));
        }
    }
    let deleted = sqlx::query("DELETE FROM toolwright_entries WHERE conversation = $1")
        .bind(number)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("DELETE FROM toolwright_inbox WHERE conversation = $1")
        .bind(number)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "UPDATE toolwright_conversations
         SET entries = 0, title = '', began = 0, last = 0, turn = 0
         WHERE number = $1",
    )
    .bind(number)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(Some(deleted.rows_affected() > 0))
}

/// Stores a key unless there is one.
async fn insert_key(connection: &mut PgConnection, new_key: &str) -> Result<(), sqlx::Error> {
    let mut transaction = lock_keys(connection).await?;
    sqlx::query(
        "INSERT INTO toolwright_keys (key) SELECT $1
         WHERE NOT EXISTS (SELECT FROM toolwright_keys)",
    )
    .bind(new_key)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

async fn rotate_keys(
    connection: &mut PgConnection,
    new_key: &str,
    keep: usize,
) -> Result<(), sqlx::Error> {
    let mut transaction = lock_keys(connection).await?;
    // After a lost connection it may be there already.
    sqlx::query(
        "INSERT INTO toolwright_keys (key) SELECT $1
         WHERE NOT EXISTS (SELECT FROM toolwright_keys WHERE key = $1)",
    )
    .bind(new_key)
    .execute(&mut *transaction)
    .await?;
    sqlx::query(
        "DELETE FROM toolwright_keys WHERE number NOT IN (
             SELECT number FROM toolwright_keys ORDER BY number DESC LIMIT $1
         )",
    )
    .bind(to_sql(keep.max(1)))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// Begins a transaction that no other one changes the keys beside.
async fn lock_keys(
    connection: &mut PgConnection,
) -> Result<Transaction<'_, Postgres>, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT FROM toolwright_meta FOR UPDATE").execute(&mut *transaction).await?;
    Ok(transaction)
}

/// Reads text that is stored as bytes, because PostgreSQL's text cannot contain NUL.
pub(super) fn text_column(row: &PgRow, column: usize) -> Result<String, sqlx::Error> {
    let bytes: &[u8] = row.try_get(column)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
