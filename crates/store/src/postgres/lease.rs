//! Leases of conversations, which expire by the clock of the database.

use std::time::Duration;

use toolwright_chat::Lease;

use super::PostgresStore;
use super::journal::text_column;
use crate::codec::{lease_millis, to_sql};

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
            .bind(lease_millis(duration))
            .fetch_one(&self.pool)
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
        .bind(lease_millis(duration))
        .execute(&self.pool)
        .await?;
        Ok(renewed.rows_affected() > 0)
    }

    pub(super) async fn release_lease(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        let entries: Option<i64> = sqlx::query_scalar("SELECT toolwright_release($1, $2, $3)")
            .bind(lease.conversation.as_bytes())
            .bind(lease.holder.as_bytes())
            .bind(to_sql(lease.term))
            .fetch_one(&self.pool)
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
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Returns conversations whose lease is free or has expired, and whose turn has to go on.
    pub(super) async fn unattended(&self, limit: usize) -> Result<Vec<String>, sqlx::Error> {
        let rows = sqlx::query(
            "SELECT name FROM toolwright_conversations WHERE number IN (
                 SELECT number FROM toolwright_conversations WHERE turn = 1
                 UNION
                 SELECT conversation FROM toolwright_inbox
                 JOIN toolwright_conversations ON number = conversation
                 WHERE turn <> 2 OR resumes
             )
             AND (holder IS NULL OR until <= clock_timestamp())
             LIMIT $1",
        )
        .bind(to_sql(limit))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| text_column(row, 0)).collect()
    }
}
