//! Leases of conversations, stored in the file; they do not depend on the wall clock.
//!
//! A lease belongs to its holder until another holder acquires it. That is possible when the process of the first is gone,
//! which its [`process_lock`] shows, or when the lease was watched for its whole duration, by a monotonic clock, and was not
//! renewed meanwhile: every renewal changes `until`. So a wall clock that is set or differs ends no lease.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::{Row as _, SqliteConnection};
use toolwright_chat::Lease;
use toolwright_core::__internal::unix_millis_now;

use super::{SqliteStore, process_lock};
use crate::codec::{from_sql, lease_millis, to_sql};

/// The duration of a lease that an older version wrote, without the column `life`.
const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(60);

/// The maximum number of leases of other holders that are watched.
const MAX_WATCHED: usize = 4 << 10;

/// Leases of other holders that this process has tried to acquire, by conversation, each with the time of its last observed
/// change.
#[derive(Default)]
pub(super) struct LeaseWatch(Mutex<HashMap<String, (ForeignLease, Instant)>>);

/// The lease of another holder as it was read.
#[derive(PartialEq)]
struct ForeignLease {
    holder: String,
    until: i64,
}

impl LeaseWatch {
    /// Returns true if the lease was first seen at least its duration ago, and was not renewed since.
    fn has_expired(&self, conversation: &str, seen: &ForeignLease, duration: Duration) -> bool {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, since)) = watched.get(conversation)
            && before == seen
        {
            return since.elapsed() >= duration;
        }
        if watched.len() >= MAX_WATCHED {
            watched.clear();
        }
        let (holder, until) = (seen.holder.clone(), seen.until);
        let seen = (ForeignLease { holder, until }, Instant::now());
        watched.insert(conversation.to_owned(), seen);
        false
    }

    fn unwatch(&self, conversation: &str) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.remove(conversation);
    }
}

impl SqliteStore {
    /// Acquires or renews a lease that is free, held by the same holder or by a process that is gone, or has expired.
    pub(super) async fn acquire_lease(
        &self,
        lease: &Lease,
        duration: Duration,
    ) -> Result<bool, sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        if self.write_lease(&mut connection, lease, duration, None).await? {
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
        let seen_duration: Option<i64> = row.try_get(3)?;
        let seen_duration = seen_duration
            .map_or(DEFAULT_LEASE_DURATION, |millis| Duration::from_millis(from_sql(millis)));
        let is_gone =
            process.is_some_and(|process| process_lock::is_process_gone(&self.path, &process));
        if !is_gone && !self.lease_watch.has_expired(&lease.conversation, &seen, seen_duration) {
            return Ok(false);
        }
        let acquired = self.write_lease(&mut connection, lease, duration, Some(&seen)).await;
        self.lease_watch.unwatch(&lease.conversation);
        acquired
    }

    /// Writes a lease that is free, held by the same holder, or still equal to `seen`; returns false otherwise.
    async fn write_lease(
        &self,
        connection: &mut SqliteConnection,
        lease: &Lease,
        duration: Duration,
        seen: Option<&ForeignLease>,
    ) -> Result<bool, sqlx::Error> {
        let millis = lease_millis(duration);
        let written = sqlx::query(
            "INSERT INTO conversations (name, holder, process, until, life) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (name) DO UPDATE SET
                 holder = excluded.holder, process = excluded.process, life = excluded.life,
                 until = max(excluded.until, ifnull(until, 0) + 1)
             WHERE holder IS NULL OR holder = excluded.holder OR (holder = ? AND until = ?)",
        )
        .bind(&lease.conversation)
        .bind(&lease.holder)
        .bind(self.process_lock.process_name())
        .bind(now().saturating_add(millis))
        .bind(millis)
        .bind(seen.map(|seen| &seen.holder))
        .bind(seen.map(|seen| seen.until))
        .execute(connection)
        .await?;
        Ok(written.rows_affected() > 0)
    }

    pub(super) async fn release_lease(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        // The row of a conversation without entries exists only for its lease.
        let deleted =
            sqlx::query("DELETE FROM conversations WHERE name = ? AND holder = ? AND entries = 0")
                .bind(&lease.conversation)
                .bind(&lease.holder)
                .execute(&mut *connection)
                .await?;
        if deleted.rows_affected() == 0 {
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

/// Returns the number of the conversation if the lease is held: no other holder has acquired it, even if it has expired.
pub(super) async fn leased_conversation(
    connection: &mut SqliteConnection,
    lease: &Lease,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT number FROM conversations WHERE name = ? AND holder = ?")
        .bind(&lease.conversation)
        .bind(&lease.holder)
        .fetch_optional(connection)
        .await
}

/// Milliseconds since 1970. Only people and older versions that share the file read `until` as a time.
fn now() -> i64 {
    to_sql(unix_millis_now())
}
