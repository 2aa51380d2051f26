//! Who holds a conversation, and until when: in the file, by the clock of the machine.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqlx::Row as _;
use toolwright_chat::Lease;

use super::{SqliteStore, alive};
use crate::text::signed;

impl SqliteStore {
    /// Takes a lease that is free, over, ours, or of a process that is gone.
    pub(super) async fn take(&self, lease: &Lease, life: Duration) -> Result<bool, sqlx::Error> {
        if self.take_from(lease, life, None).await? {
            return Ok(true);
        }
        let row = sqlx::query("SELECT process FROM conversations WHERE name = ?")
            .bind(&lease.conversation)
            .fetch_optional(&self.writer)
            .await?;
        let process: Option<String> = row.map(|row| row.try_get(0)).transpose()?.flatten();
        match process {
            Some(gone) if alive::is_gone(&self.path, &gone) => {
                self.take_from(lease, life, Some(&gone)).await
            }
            _ => Ok(false),
        }
    }

    async fn take_from(
        &self,
        lease: &Lease,
        life: Duration,
        gone: Option<&str>,
    ) -> Result<bool, sqlx::Error> {
        let now = now();
        let taken = sqlx::query(
            "INSERT INTO conversations (name, holder, process, until) VALUES (?, ?, ?, ?)
             ON CONFLICT (name) DO UPDATE SET
                 holder = excluded.holder, process = excluded.process, until = excluded.until
             WHERE holder IS NULL OR holder = excluded.holder OR until <= ? OR process = ?",
        )
        .bind(&lease.conversation)
        .bind(&lease.holder)
        .bind(self.alive.name())
        .bind(now.saturating_add(signed(life.as_millis())))
        .bind(now)
        .bind(gone)
        .execute(&self.writer)
        .await?;
        Ok(taken.rows_affected() > 0)
    }

    pub(super) async fn give_back(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        // A conversation in which nothing was said leaves nothing behind.
        let gone =
            sqlx::query("DELETE FROM conversations WHERE name = ? AND holder = ? AND entries = 0")
                .bind(&lease.conversation)
                .bind(&lease.holder)
                .execute(&self.writer)
                .await?;
        if gone.rows_affected() == 0 {
            sqlx::query(
                "UPDATE conversations SET holder = NULL, process = NULL, until = NULL
                 WHERE name = ? AND holder = ?",
            )
            .bind(&lease.conversation)
            .bind(&lease.holder)
            .execute(&self.writer)
            .await?;
        }
        Ok(())
    }
}

/// The number of a conversation whose lease is held.
pub(super) async fn held(
    connection: &mut sqlx::SqliteConnection,
    lease: &Lease,
) -> Result<Option<i64>, sqlx::Error> {
    let row =
        sqlx::query("SELECT number FROM conversations WHERE name = ? AND holder = ? AND until > ?")
            .bind(&lease.conversation)
            .bind(&lease.holder)
            .bind(now())
            .fetch_optional(connection)
            .await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Milliseconds since 1970: what processes of one machine have in common.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| signed(since.as_millis()))
}
