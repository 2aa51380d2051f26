//! What is in the journals: added, read, listed, forgotten.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use toolwright_chat::{Entry, Lease, Owner, Summary, title};

use super::PostgresStore;
use crate::codec::{signed, unsigned};

impl PostgresStore {
    /// Adds entries in one trip; `false` if the lease is not held.
    pub(super) async fn add(
        &self,
        lease: &Lease,
        entries: &[Entry],
        texts: &[String],
    ) -> Result<bool, sqlx::Error> {
        let ids: Vec<&[u8]> = entries.iter().map(|entry| entry.id.as_bytes()).collect();
        let times: Vec<i64> = entries.iter().map(|entry| signed(entry.at)).collect();
        let title = entries.first().map(title).unwrap_or_default();
        let row = sqlx::query("SELECT toolwright_append($1, $2, $3, $4, $5, $6)")
            .bind(lease.conversation.as_bytes())
            .bind(lease.holder.as_bytes())
            .bind(ids)
            .bind(times)
            .bind(texts)
            .bind(title.as_bytes())
            .fetch_one(&self.pool)
            .await?;
        row.try_get(0)
    }

    pub(super) async fn texts(
        &self,
        conversation: &str,
        before: Option<&str>,
        most: usize,
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
        query.bind(signed(most)).fetch_all(&self.pool).await
    }

    /// Lists the conversations of an owner, or all without one.
    pub(super) async fn summaries(
        &self,
        owner: Option<&Owner>,
        most: usize,
    ) -> Result<Vec<Summary>, sqlx::Error> {
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
        let mut query = sqlx::query(query).bind(signed(most));
        if let Some(names) = owner.map(Owner::subject_names) {
            query = query
                .bind(names.start.into_bytes())
                .bind(names.end.into_bytes());
        }
        let rows = query.fetch_all(&self.pool).await?;
        let summaries = rows.iter().map(|row| {
            let mut summary = Summary::of(words(row, 0)?);
            summary.title = words(row, 1)?;
            summary.entries = row.try_get(2).map(unsigned)?;
            summary.began = row.try_get(3).map(unsigned)?;
            summary.last = row.try_get(4).map(unsigned)?;
            Ok(summary)
        });
        summaries.collect()
    }

    /// Forgets; whether there was something, unless the lease is not held.
    pub(super) async fn drop_all(&self, lease: &Lease) -> Result<Option<bool>, sqlx::Error> {
        let mut work = self.pool.begin().await?;
        let held = sqlx::query(
            "SELECT number FROM toolwright_conversations
             WHERE name = $1 AND holder = $2 FOR UPDATE",
        )
        .bind(lease.conversation.as_bytes())
        .bind(lease.holder.as_bytes())
        .fetch_optional(&mut *work)
        .await?;
        let Some(held) = held else { return Ok(None) };
        let number: i64 = held.try_get(0)?;
        let gone = sqlx::query("DELETE FROM toolwright_entries WHERE conversation = $1")
            .bind(number)
            .execute(&mut *work)
            .await?;
        sqlx::query(
            "UPDATE toolwright_conversations SET entries = 0, title = '', began = 0, last = 0
             WHERE number = $1",
        )
        .bind(number)
        .execute(&mut *work)
        .await?;
        work.commit().await?;
        Ok(Some(gone.rows_affected() > 0))
    }

    /// Writes an entry of no conversation.
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

    pub(super) async fn kept_key(&self, drawn: &str) -> Result<String, sqlx::Error> {
        sqlx::query("INSERT INTO toolwright_key (key) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(drawn)
            .execute(&self.pool)
            .await?;
        let row = sqlx::query("SELECT key FROM toolwright_key")
            .fetch_one(&self.pool)
            .await?;
        row.try_get(0)
    }
}

/// Text that may contain anything: PostgreSQL's own cannot contain NUL.
fn words(row: &PgRow, at: usize) -> Result<String, sqlx::Error> {
    let bytes: &[u8] = row.try_get(at)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
