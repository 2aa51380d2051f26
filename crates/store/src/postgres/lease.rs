//! Leases of conversations, which expire by the clock of the database.

use std::time::Duration;

use toolwright_chat::Lease;

use super::PostgresStore;
use crate::codec::lease_millis;

impl PostgresStore {
    /// Acquires or renews a lease that is free, held by the same holder, or has expired.
    pub(super) async fn acquire_lease(
        &self,
        lease: &Lease,
        duration: Duration,
    ) -> Result<bool, sqlx::Error> {
        let acquired = sqlx::query(
            "INSERT INTO toolwright_conversations AS known (name, holder, until)
             VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,
                 -- Computed again: the statement may have waited for the row.
                 until = clock_timestamp() + $3 * interval '1 millisecond'
             WHERE known.holder IS NULL OR known.holder = excluded.holder
                 OR known.until <= clock_timestamp()",
        )
        .bind(lease.conversation.as_bytes())
        .bind(lease.holder.as_bytes())
        .bind(lease_millis(duration))
        .execute(&self.pool)
        .await?;
        Ok(acquired.rows_affected() > 0)
    }

    pub(super) async fn release_lease(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        // The row of a conversation without entries exists only for its lease.
        sqlx::query(
            "WITH empty AS (
                 DELETE FROM toolwright_conversations
                 WHERE name = $1 AND holder = $2 AND entries = 0
             )
             UPDATE toolwright_conversations SET holder = NULL, until = NULL
             WHERE name = $1 AND holder = $2 AND entries > 0",
        )
        .bind(lease.conversation.as_bytes())
        .bind(lease.holder.as_bytes())
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
