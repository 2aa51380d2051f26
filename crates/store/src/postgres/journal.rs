//! Appends to, reads, lists and deletes journals.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use toolwright_chat::{ConversationSummary, Entry, Lease, Owner, entry_title};

use super::PostgresStore;
use crate::codec::{from_sql, to_sql};

impl PostgresStore {
    /// Appends entries that are not stored yet, in one round trip; returns false if the lease is not held.
    pub(super) async fn append_entries(
        &self,
        lease: &Lease,
        entries: &[Entry],
        texts: &[String],
    ) -> Result<bool, sqlx::Error> {
        let ids: Vec<&[u8]> = entries.iter().map(|entry| entry.id.as_bytes()).collect();
        let times: Vec<i64> = entries.iter().map(|entry| to_sql(entry.at)).collect();
        let title = entries.first().map(entry_title).unwrap_or_default();
        sqlx::query_scalar("SELECT toolwright_append($1, $2, $3, $4, $5, $6)")
            .bind(lease.conversation.as_bytes())
            .bind(lease.holder.as_bytes())
            .bind(ids)
            .bind(times)
            .bind(texts)
            .bind(title.as_bytes())
            .fetch_one(&self.pool)
            .await
    }

    /// Returns the JSON texts of the last entries, or of the last before the entry `before`, newest first.
    pub(super) async fn entry_rows(
        &self,
        conversation: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let query = match before {
            None => sqlx::query(
                "SELECT entry FROM toolwright_entries
                 WHERE conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)
                 ORDER BY seq DESC LIMIT $2",
            )
            .bind(conversation.as_bytes()),
            Some(before) => sqlx::query(
                "SELECT entry FROM toolwright_entries
                 WHERE conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)
                 AND seq < (
                     SELECT seq FROM toolwright_entries
                     WHERE conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)
                     AND id = $2
                 )
                 ORDER BY seq DESC LIMIT $3",
            )
            .bind(conversation.as_bytes())
            .bind(before.as_bytes()),
        };
        query.bind(to_sql(limit)).fetch_all(&self.pool).await
    }

    /// Lists the conversations of an owner, or all if `owner` is `None`, latest first.
    pub(super) async fn summaries(
        &self,
        owner: Option<&Owner>,
        limit: usize,
    ) -> Result<Vec<ConversationSummary>, sqlx::Error> {
        let query = match owner {
            None => {
                "SELECT name, title, entries, began, last FROM toolwright_conversations
                 WHERE entries > 0 ORDER BY last DESC, name LIMIT $1"
            }
            Some(Owner::Operator) => {
                "SELECT name, title, entries, began, last FROM toolwright_conversations
                 WHERE entries > 0 AND NOT (name >= $2 AND name < $3)
                 ORDER BY last DESC, name LIMIT $1"
            }
            Some(_) => {
                "SELECT name, title, entries, began, last FROM toolwright_conversations
                 WHERE entries > 0 AND name >= $2 AND name < $3
                 ORDER BY last DESC, name LIMIT $1"
            }
        };
        let mut query = sqlx::query(query).bind(to_sql(limit));
        if let Some(names) = owner.map(Owner::stored_name_range) {
            query = query.bind(names.start.into_bytes()).bind(names.end.into_bytes());
        }
        let rows = query.fetch_all(&self.pool).await?;
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

    /// Deletes all entries of a conversation; returns false if it had none, and `None` if the lease is not held.
    pub(super) async fn delete_conversation(
        &self,
        lease: &Lease,
    ) -> Result<Option<bool>, sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        let leased: Option<i64> = sqlx::query_scalar(
            "SELECT number FROM toolwright_conversations
             WHERE name = $1 AND holder = $2 FOR UPDATE",
        )
        .bind(lease.conversation.as_bytes())
        .bind(lease.holder.as_bytes())
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(number) = leased else {
            return Ok(None);
        };
        let deleted = sqlx::query("DELETE FROM toolwright_entries WHERE conversation = $1")
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(
            "UPDATE toolwright_conversations SET entries = 0, title = '', began = 0, last = 0
             WHERE number = $1",
        )
        .bind(number)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(Some(deleted.rows_affected() > 0))
    }

    /// Writes an entry that belongs to no conversation.
    pub(super) async fn probe(&self) -> Result<(), sqlx::Error> {
        sqlx::query(
            "INSERT INTO toolwright_entries (conversation, seq, id, entry)
             VALUES (0, 0, 'probe', clock_timestamp()::text)
             ON CONFLICT (conversation, seq) DO UPDATE SET entry = excluded.entry",
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Returns the stored key; stores `new_key` if there is none.
    pub(super) async fn load_or_insert_key(&self, new_key: &str) -> Result<String, sqlx::Error> {
        sqlx::query("INSERT INTO toolwright_key (key) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(new_key)
            .execute(&self.pool)
            .await?;
        sqlx::query_scalar("SELECT key FROM toolwright_key").fetch_one(&self.pool).await
    }
}

/// Reads text that is stored as bytes, because PostgreSQL's text cannot contain NUL.
fn text_column(row: &PgRow, column: usize) -> Result<String, sqlx::Error> {
    let bytes: &[u8] = row.try_get(column)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
