//! Appends to, reads, lists and deletes journals.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _};
use toolwright_chat::{Append, ConversationSummary, Lease, Owner, TailEnd, entry_title};

use super::SqliteStore;
use super::lease::leased_conversation;
use crate::codec::{ListFilter, from_sql, to_sql, turn_to_sql};
use crate::write_load::Appended;

impl SqliteStore {
    /// Appends entries that are not stored yet, and removes items from the inbox.
    pub(super) async fn append_entries(
        &self,
        lease: &Lease,
        append: Append<'_>,
        texts: &[String],
    ) -> Result<Appended, sqlx::Error> {
        let mut connection = self.writer(append.durable).await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let Some(number) = leased_conversation(&mut transaction, lease).await? else {
            return Ok(Appended::LeaseLost);
        };
        let mut added = Vec::new();
        for (entry, text) in append.entries.iter().zip(texts) {
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
                added.push(entry);
            }
        }
        for position in append.taken {
            let row = sqlx::query("DELETE FROM inbox WHERE conversation = ? AND position = ?")
                .bind(number)
                .bind(to_sql(*position))
                .execute(&mut *transaction)
                .await?;
            // What was appended before has taken its items then.
            if row.rows_affected() == 0 && !added.is_empty() {
                return Ok(Appended::ItemWithdrawn);
            }
        }
        if !append.entries.is_empty() {
            sqlx::query(
                "UPDATE conversations SET
                     title = iif(entries = 0, ?, title), began = iif(entries = 0, ?, began),
                     entries = entries + ?, last = ifnull(?, last), turn = ?
                 WHERE number = ?",
            )
            .bind(added.first().map(|entry| entry_title(entry)).unwrap_or_default())
            .bind(added.first().map_or(0, |entry| to_sql(entry.at)))
            .bind(to_sql(added.len()))
            .bind(added.last().map(|entry| to_sql(entry.at)))
            .bind(turn_to_sql(append.turn))
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(Appended::Done)
    }

    /// Returns the JSON texts of the last entries up to `end`, newest first.
    pub(super) async fn entry_rows(
        &self,
        conversation: &str,
        end: TailEnd<'_>,
        limit: usize,
    ) -> Result<Vec<SqliteRow>, sqlx::Error> {
        let (end, skipped) = match end {
            TailEnd::Newest => (None, 0),
            TailEnd::Before(id) => (Some(id), 1),
            TailEnd::At(id) => (Some(id), 0),
        };
        let query = match end {
            None => sqlx::query(
                "SELECT entry FROM entries
                 WHERE conversation = (SELECT number FROM conversations WHERE name = ?)
                 ORDER BY seq DESC LIMIT ?",
            )
            .bind(conversation),
            Some(end) => sqlx::query(
                "SELECT entry FROM entries
                 WHERE conversation = (SELECT number FROM conversations WHERE name = ?1)
                 AND seq <= (
                     SELECT seq - ?3 FROM entries
                     WHERE conversation = (SELECT number FROM conversations WHERE name = ?1) AND id = ?2
                 )
                 ORDER BY seq DESC LIMIT ?4",
            )
            .bind(conversation)
            .bind(end)
            .bind(skipped),
        };
        query.bind(to_sql(limit)).fetch_all(&self.readers).await
    }

    /// Lists conversations in the order that the filter has.
    pub(super) async fn summaries(
        &self,
        filter: ListFilter<'_>,
        limit: usize,
    ) -> Result<Vec<ConversationSummary>, sqlx::Error> {
        let query = match filter {
            ListFilter::All => {
                "SELECT name, title, entries, began, last FROM conversations WHERE entries > 0
                 ORDER BY last DESC, name LIMIT ?1"
            }
            ListFilter::OwnedBy(Owner::Operator) => {
                "SELECT name, title, entries, began, last FROM conversations WHERE entries > 0
                 AND NOT (name >= ?2 AND name < ?3) ORDER BY last DESC, name LIMIT ?1"
            }
            ListFilter::OwnedBy(_) => {
                "SELECT name, title, entries, began, last FROM conversations WHERE entries > 0
                 AND name >= ?2 AND name < ?3 ORDER BY last DESC, name LIMIT ?1"
            }
            ListFilter::OlderThan(_) => {
                "SELECT name, title, entries, began, last FROM conversations WHERE entries > 0
                 AND last < ?2 ORDER BY last, name DESC LIMIT ?1"
            }
        };
        let query = sqlx::query(query).bind(to_sql(limit));
        let query = match filter {
            ListFilter::All => query,
            ListFilter::OwnedBy(owner) => {
                let names = owner.stored_name_range();
                query.bind(names.start).bind(names.end)
            }
            ListFilter::OlderThan(time) => query.bind(to_sql(time)),
        };
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

    /// Deletes all entries of a conversation and its inbox; returns false if it had none, and `None` if the lease is not held.
    ///
    /// With a time, only if the last entry is older, the turn is over and the inbox is empty; otherwise returns false.
    pub(super) async fn delete_conversation(
        &self,
        lease: &Lease,
        expired_before: Option<u64>,
    ) -> Result<Option<bool>, sqlx::Error> {
        let mut connection = self.writer(true).await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let Some(number) = leased_conversation(&mut transaction, lease).await? else {
            return Ok(None);
        };
        if let Some(time) = expired_before {
            let is_expired: bool = sqlx::query_scalar(
                "SELECT turn = 0 AND last < ?2
                 AND NOT EXISTS (SELECT 1 FROM inbox WHERE conversation = ?1)
                 FROM conversations WHERE number = ?1",
            )
            .bind(number)
            .bind(to_sql(time))
            .fetch_one(&mut *transaction)
            .await?;
            if !is_expired {
                return Ok(Some(false));
            }
        }
        let deleted = sqlx::query("DELETE FROM entries WHERE conversation = ?")
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("DELETE FROM inbox WHERE conversation = ?")
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(
            "UPDATE conversations SET entries = 0, title = '', began = 0, last = 0, turn = 0
             WHERE number = ?",
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
        let mut connection = self.writer(true).await?;
        sqlx::query(
            "INSERT OR REPLACE INTO entries (conversation, id, entry)
             VALUES (0, 'probe', hex(zeroblob(8192)))",
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query("DELETE FROM entries WHERE conversation = 0").execute(&mut *connection).await?;
        Ok(())
    }

    /// Returns the stored keys, the newest first; stores `new_key` if there are none.
    pub(super) async fn load_or_insert_keys(
        &self,
        new_key: &str,
    ) -> Result<Vec<String>, sqlx::Error> {
        let mut connection = self.writer(true).await?;
        sqlx::query("INSERT INTO keys (key) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM keys)")
            .bind(new_key)
            .execute(&mut *connection)
            .await?;
        sqlx::query_scalar("SELECT key FROM keys ORDER BY number DESC")
            .fetch_all(&mut *connection)
            .await
    }

    /// Adds a key, and removes all but the newest `keep`.
    pub(super) async fn rotate_keys(&self, new_key: &str, keep: usize) -> Result<(), sqlx::Error> {
        let mut connection = self.writer(true).await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query("INSERT INTO keys (key) VALUES (?)")
            .bind(new_key)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(
            "DELETE FROM keys WHERE number NOT IN (
                 SELECT number FROM keys ORDER BY number DESC LIMIT ?
             )",
        )
        .bind(to_sql(keep.max(1)))
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await
    }
}
