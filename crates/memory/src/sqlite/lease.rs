//! The holder of a conversation, in the file; the wall clock decides nothing.
//!
//! A lease belongs to its holder until another takes it. Another may take it when the holder's process is gone, which the lock
//! file of [`process_lock`] shows, or when it was watched for its whole life, by a monotonic clock, and not renewed
//! meanwhile: every renewal changes `until`. So a wall clock that is set or differs takes no lease away.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sqlx::{Row as _, SqliteConnection};
use toolwright_chat::Lease;

use super::{SqliteStore, process_lock};
use crate::codec::{signed, unsigned};

/// The longest life of a lease: a century, which the column can hold.
const MAX_LIFE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The life of a lease that an older version wrote, without its life.
const DEFAULT_LIFE: Duration = Duration::from_secs(60);

/// How many leases of other holders are watched at most.
const MAX_WATCHED: usize = 4 << 10;

/// Leases of other holders that this process has tried to take, by conversation, and since when they were not renewed.
#[derive(Default)]
pub(super) struct LeaseWatch(Mutex<HashMap<String, (ForeignLease, Instant)>>);

/// The lease of another holder as it was read.
#[derive(PartialEq)]
struct ForeignLease {
    holder: String,
    until: i64,
}

impl LeaseWatch {
    /// Returns true if the lease was first seen at least its life ago, and was not renewed since.
    fn has_run_out(&self, conversation: &str, seen: &ForeignLease, life: Duration) -> bool {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, since)) = watched.get(conversation)
            && before == seen
        {
            return since.elapsed() >= life;
        }
        if watched.len() >= MAX_WATCHED {
            watched.clear();
        }
        let (holder, until) = (seen.holder.clone(), seen.until);
        let seen = (ForeignLease { holder, until }, Instant::now());
        watched.insert(conversation.to_owned(), seen);
        false
    }

    fn forget(&self, conversation: &str) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.remove(conversation);
    }
}

impl SqliteStore {
    /// Takes a lease that is free, ours, of a process that is gone, or not renewed in time.
    pub(super) async fn take(&self, lease: &Lease, life: Duration) -> Result<bool, sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        if self.write(&mut connection, lease, life, None).await? {
            return Ok(true);
        }
        let row =
            sqlx::query("SELECT holder, process, until, life FROM conversations WHERE name = ?")
                .bind(&lease.conversation)
                .fetch_optional(&mut *connection)
                .await?;
        let Some(row) = row else { return Ok(false) };
        let (Some(holder), Some(until)) = (row.try_get(0)?, row.try_get(2)?) else {
            return Ok(false);
        };
        let seen = ForeignLease { holder, until };
        let process: Option<String> = row.try_get(1)?;
        let lasts: Option<i64> = row.try_get(3)?;
        let lasts = lasts.map_or(DEFAULT_LIFE, |millis| {
            Duration::from_millis(unsigned(millis))
        });
        let gone = process.is_some_and(|process| process_lock::is_gone(&self.path, &process));
        if !gone
            && !self
                .lease_watch
                .has_run_out(&lease.conversation, &seen, lasts)
        {
            return Ok(false);
        }
        let taken = self.write(&mut connection, lease, life, Some(&seen)).await;
        self.lease_watch.forget(&lease.conversation);
        taken
    }

    /// Writes a lease that is free, ours, or still as it was seen.
    async fn write(
        &self,
        connection: &mut SqliteConnection,
        lease: &Lease,
        life: Duration,
        seen: Option<&ForeignLease>,
    ) -> Result<bool, sqlx::Error> {
        let life = signed(life.min(MAX_LIFE).as_millis());
        let taken = sqlx::query(
            "INSERT INTO conversations (name, holder, process, until, life) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (name) DO UPDATE SET
                 holder = excluded.holder, process = excluded.process, life = excluded.life,
                 until = max(excluded.until, ifnull(until, 0) + 1)
             WHERE holder IS NULL OR holder = excluded.holder OR (holder = ? AND until = ?)",
        )
        .bind(&lease.conversation)
        .bind(&lease.holder)
        .bind(self.alive.name())
        .bind(now().saturating_add(life))
        .bind(life)
        .bind(seen.map(|seen| &seen.holder))
        .bind(seen.map(|seen| seen.until))
        .execute(connection)
        .await?;
        Ok(taken.rows_affected() > 0)
    }

    pub(super) async fn give_back(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        // A conversation in which nothing was said leaves nothing behind.
        let gone =
            sqlx::query("DELETE FROM conversations WHERE name = ? AND holder = ? AND entries = 0")
                .bind(&lease.conversation)
                .bind(&lease.holder)
                .execute(&mut *connection)
                .await?;
        if gone.rows_affected() == 0 {
            sqlx::query(
                "UPDATE conversations SET holder = NULL, process = NULL, until = NULL, life = NULL
                 WHERE name = ? AND holder = ?",
            )
            .bind(&lease.conversation)
            .bind(&lease.holder)
            .execute(&mut *connection)
            .await?;
        }
        Ok(())
    }
}

/// Returns the number of a conversation whose lease is held: no other has taken it, even if it has run out.
pub(super) async fn held(
    connection: &mut SqliteConnection,
    lease: &Lease,
) -> Result<Option<i64>, sqlx::Error> {
    let row = sqlx::query("SELECT number FROM conversations WHERE name = ? AND holder = ?")
        .bind(&lease.conversation)
        .bind(&lease.holder)
        .fetch_optional(connection)
        .await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Milliseconds since 1970: `until` is a time only for people, and for older versions that share the file.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| signed(since.as_millis()))
}
