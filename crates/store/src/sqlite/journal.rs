//! Appends to, reads, lists and deletes journals.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _};
use toolwright_chat::{ConversationSummary, Entry, Lease, Owner, entry_title};

use super::SqliteStore;
use super::lease::leased_conversation;
use crate::codec::{from_sql, to_sql};

impl SqliteStore {
    /// Appends entries that are not stored yet; returns false if the lease is not held.
    pub(super) async fn append_entries(
        &self,
        lease: &Lease,
        entries: &[Entry],
        texts: &[String],
    ) -> Result<bool, sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let Some(number) = leased_conversation(&mut transaction, lease).await? else {
            return Ok(false);
        };
        let mut added: (i64, Option<&Entry>, Option<&Entry>) = (0, None, None);
        for (entry, text) in entries.iter().zip(texts) {
            let row = sqlx::query(
                "INSERT INTO entries (conversation, id, entry) VALUES (?, ?, ?)
                 ON CONFLICT (conversation, id) DO NOTHING",
            )
            .bind(number)
            .bind(&entry.id)
            .bind(text)
            .execute(&mut *transaction)
            .await?;
            if row.rows_affected() > 0 {
                added = (added.0 + 1, added.1.or(Some(entry)), Some(entry));
            }
        }
        if let (count, Some(first), Some(last)) = added {
            sqlx::query(
                "UPDATE conversations SET
                     title = iif(entries = 0, ?, title), began = iif(entries = 0, ?, began),
                     entries = entries + ?, last = ?
                 WHERE number = ?",
            )
            .bind(entry_title(first))
            .bind(to_sql(first.at))
            .bind(count)
            .bind(to_sql(last.at))
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Returns the JSON texts of the last entries, or of the last before the entry `before`, newest first.
    pub(super) async fn entry_rows(
        &self,
        conversation: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SqliteRow>, sqlx::Error> {
        let query = match before {
            None => sqlx::query(
                "SELECT entry FROM entries
                 WHERE conversation = (SELECT number FROM conversations WHERE name = ?)
                 ORDER BY seq DESC LIMIT ?",
            )
            .bind(conversation),
            Some(before) => sqlx::query(
                "SELECT entry FROM entries
                 WHERE conversation = (SELECT number FROM conversations WHERE name = ?1)
                 AND seq < (
                     SELECT seq FROM entries
                     WHERE conversation = (SELECT number FROM conversations WHERE name = ?1) AND id = ?2
                 )
                 ORDER BY seq DESC LIMIT ?3",
            )
            .bind(conversation)
            .bind(before),
        };
        query.bind(to_sql(limit)).fetch_all(&self.readers).await
    }

    /// Lists the conversations of an owner, or all if `owner` is `None`, latest first.
    pub(super) async fn summaries(
        &self,
        owner: Option<&Owner>,
        limit: usize,
    ) -> Result<Vec<ConversationSummary>, sqlx::Error> {
        let query = match owner {
            None => {
                "SELECT name, title, entries, began, last FROM conversations WHERE entries > 0
                 ORDER BY last DESC, name LIMIT ?1"
            }
            Some(Owner::Operator) => {
                "SELECT name, title, entries, began, last FROM conversations WHERE entries > 0
                 AND NOT (name >= ?2 AND name < ?3) ORDER BY last DESC, name LIMIT ?1"
            }
            Some(_) => {
                "SELECT name, title, entries, began, last FROM conversations WHERE entries > 0
                 AND name >= ?2 AND name < ?3 ORDER BY last DESC, name LIMIT ?1"
            }
        };
        let mut query = sqlx::query(query).bind(to_sql(limit));
        if let Some(names) = owner.map(Owner::stored_name_range) {
            query = query.bind(names.start).bind(names.end);
        }
        let rows = query.fetch_all(&self.readers).await?;
        let summaries = rows.iter().map(|row| {
            let mut summary = ConversationSummary::empty(row.try_get::<String, _>(0)?);
            summary.title = row.try_get(1)?;
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
        let mut connection = self.writer.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let Some(number) = leased_conversation(&mut transaction, lease).await? else {
            return Ok(None);
        };
        let deleted = sqlx::query("DELETE FROM entries WHERE conversation = ?")
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(
            "UPDATE conversations SET entries = 0, title = '', began = 0, last = 0 WHERE number = ?",
        )
        .bind(number)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        // The write-ahead log still contains the entries; a concurrent reader may delay its truncation.
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut *connection).await;
        Ok(Some(deleted.rows_affected() > 0))
    }

    /// Writes and deletes an entry that belongs to no conversation and is large enough to need space on the disk.
    pub(super) async fn probe(&self) -> Result<(), sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        sqlx::query(
            "INSERT OR REPLACE INTO entries (conversation, id, entry)
             VALUES (0, 'probe', hex(zeroblob(8192)))",
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query("DELETE FROM entries WHERE conversation = 0").execute(&mut *connection).await?;
        Ok(())
    }

    /// Returns the stored key; stores `new_key` if there is none.
    pub(super) async fn load_or_insert_key(&self, new_key: &str) -> Result<String, sqlx::Error> {
        sqlx::query("INSERT INTO key (one, key) VALUES (1, ?) ON CONFLICT DO NOTHING")
            .bind(new_key)
            .execute(&self.writer)
            .await?;
        sqlx::query_scalar("SELECT key FROM key").fetch_one(&self.writer).await
    }
}
