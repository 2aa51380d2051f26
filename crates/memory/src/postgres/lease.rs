//! Who holds a conversation, and until when: by the clock of the database.

use std::time::Duration;

use toolwright_chat::Lease;

use super::PostgresStore;
use crate::codec::signed;

/// As far ahead as a lease lasts: longer than anybody lives, and what a timestamp can hold.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

impl PostgresStore {
    pub(super) async fn take(&self, lease: &Lease, life: Duration) -> Result<bool, sqlx::Error> {
        let taken = sqlx::query(
            "INSERT INTO toolwright_conversations AS known (name, holder, until)
             VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,
                 -- Once more: it may have waited for the row.
                 until = clock_timestamp() + $3 * interval '1 millisecond'
             WHERE known.holder IS NULL OR known.holder = excluded.holder
                 OR known.until <= clock_timestamp()",
        )
        .bind(lease.conversation.as_bytes())
        .bind(lease.holder.as_bytes())
        .bind(signed(life.min(LONGEST).as_millis()))
        .execute(&self.pool)
        .await?;
        Ok(taken.rows_affected() > 0)
    }

    pub(super) async fn give_back(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        // A conversation in which nothing was said leaves nothing behind.
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
