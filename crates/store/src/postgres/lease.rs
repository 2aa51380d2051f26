//! Leases of conversations, which expire by the clock of the database.

use std::time::Duration;

use sqlx::Row as _;
use toolwright_chat::{Lease, LeaseStatus};

use super::PostgresStore;
use super::journal::text_column;
use crate::codec::{duration_millis, from_sql, to_sql};

/// Selects the names of conversations whose turn has to go on, or whose inbox has an item that can be taken.
macro_rules! with_work {
    () => {
        "SELECT name FROM toolwright_conversations WHERE number IN (
             SELECT number FROM toolwright_conversations WHERE turn = 1
             UNION
             SELECT conversation FROM toolwright_inbox
             JOIN toolwright_conversations ON number = conversation
             WHERE turn <> 2 OR resumes
         )
         "
    };
}

impl PostgresStore {
    /// Acquires a lease that is free, held by the same holder, or has expired; returns its term.
    pub(super) async fn acquire_lease(
        &self,
        conversation: &str,
        holder: &str,
        duration: Duration,
    ) -> Result<Option<i64>, sqlx::Error> {
        sqlx::query_scalar("SELECT toolwright_acquire($1, $2, $3)")
            .bind(conversation.as_bytes())
            .bind(holder.as_bytes())
            .bind(duration_millis(duration))
            .fetch_one(&self.database)
            .await
    }

    /// Renews a lease; returns false if it is not held.
    pub(super) async fn renew_lease(
        &self,
        lease: &Lease,
        duration: Duration,
    ) -> Result<bool, sqlx::Error> {
        let renewed = sqlx::query(
            "UPDATE toolwright_conversations
             SET until = clock_timestamp() + $4 * interval '1 millisecond'
             WHERE name = $1 AND holder = $2 AND term = $3",
        )
        .bind(lease.conversation.as_bytes())
        .bind(lease.holder.as_bytes())
        .bind(to_sql(lease.term))
        .bind(duration_millis(duration))
        .execute(&self.database)
        .await?;
        Ok(renewed.rows_affected() > 0)
    }

    pub(super) async fn release_lease(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        let entries: Option<i64> = sqlx::query_scalar("SELECT toolwright_release($1, $2, $3)")
            .bind(lease.conversation.as_bytes())
            .bind(lease.holder.as_bytes())
            .bind(to_sql(lease.term))
            .fetch_one(&self.database)
            .await?;
        match entries {
            Some(0) => self.remove_if_empty(&lease.conversation).await,
            _ => Ok(()),
        }
    }

    /// Removes the row of a conversation that has nothing but a term.
    pub(super) async fn remove_if_empty(&self, conversation: &str) -> Result<(), sqlx::Error> {
        sqlx::query("SELECT toolwright_remove_if_empty($1)")
            .bind(conversation.as_bytes())
            .execute(&self.database)
            .await?;
        Ok(())
    }

    /// Returns the last term of a conversation, and the holder whose lease has not expired.
    pub(super) async fn read_lease_status(
        &self,
        conversation: &str,
    ) -> Result<LeaseStatus, sqlx::Error> {
        let row = sqlx::query(
            "SELECT coalesce(term, removed_term),
                 holder, until <= clock_timestamp()
             FROM toolwright_meta LEFT JOIN toolwright_conversations ON name = $1",
        )
        .bind(conversation.as_bytes())
        .fetch_one(&self.database)
        .await?;
        let term = from_sql(row.try_get(0)?);
        let holder: Option<Vec<u8>> = row.try_get(1)?;
        let holder = holder.map(|holder| String::from_utf8_lossy(&holder).into_owned());
        let is_past: Option<bool> = row.try_get(2)?;
        Ok(match holder.is_some() && is_past == Some(true) {
            true => LeaseStatus::expired(term),
            false => LeaseStatus::new(term, holder),
        })
    }

    /// Returns conversations whose lease is free or has expired, and whose turn has to go on.
    pub(super) async fn unattended(&self, limit: usize) -> Result<Vec<String>, sqlx::Error> {
        let query =
            concat!(with_work!(), "AND (holder IS NULL OR until <= clock_timestamp()) LIMIT $1");
        let rows = sqlx::query(query).bind(to_sql(limit)).fetch_all(&self.database).await?;
        rows.iter().map(|row| text_column(row, 0)).collect()
    }

    /// Returns conversations whose lease this holder has, and whose turn has to go on.
    pub(super) async fn held_by(
        &self,
        holder: &str,
        limit: usize,
    ) -> Result<Vec<String>, sqlx::Error> {
        let query = concat!(with_work!(), "AND holder = $2 LIMIT $1");
        let query = sqlx::query(query).bind(to_sql(limit)).bind(holder.as_bytes());
        let rows = query.fetch_all(&self.database).await?;
        rows.iter().map(|row| text_column(row, 0)).collect()
    }
}
