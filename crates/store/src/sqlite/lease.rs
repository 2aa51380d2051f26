//! Leases of conversations, stored in the file; they do not depend on the wall clock.
//!
//! A lease belongs to its holder until another holder acquires it. That is possible when the process of the first is gone,
//! which its [`process_lock`] shows, or when the lease was watched for its whole duration, by a monotonic clock, and was not
//! renewed meanwhile: every renewal changes `until`. So a wall clock that is set or differs ends no lease.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use toolwright_chat::{Lease, LeaseStatus};
use toolwright_core::__internal::unix_millis_now;

use super::{SqliteStore, process_lock};
use crate::codec::{duration_millis, from_sql, to_sql};

/// The maximum number of leases of other holders that are watched.
const MAX_WATCHED: usize = 64 << 10;

/// Selects the conversations that have to go on, each with its lease.
pub(super) const UNATTENDED: &str = "
    SELECT holder, process, until, duration, name FROM conversations WHERE number IN (
        SELECT number FROM conversations WHERE turn = 1
        UNION
        SELECT conversation FROM inbox JOIN conversations ON number = conversation
        WHERE turn <> 2 OR resumes
    )";

/// Leases of other holders that this process has seen, by conversation, each with the time of its last observed change.
#[derive(Default)]
pub(super) struct LeaseWatch(Mutex<HashMap<String, (ForeignLease, Instant)>>);

/// The lease of another holder as it was read.
#[derive(Clone, PartialEq)]
struct ForeignLease {
    holder: String,
    process: String,
    until: i64,
    duration: Duration,
}

impl ForeignLease {
    /// Reads the columns `holder`, `process`, `until` and `duration`; `None` if the lease is free.
    fn read(row: &SqliteRow) -> Result<Option<Self>, sqlx::Error> {
        let Some(holder) = row.try_get(0)? else {
            return Ok(None);
        };
        let duration = Duration::from_millis(from_sql(row.try_get(3)?));
        Ok(Some(Self { holder, process: row.try_get(1)?, until: row.try_get(2)?, duration }))
    }
}

impl LeaseWatch {
    /// Returns true if the lease was first seen at least its duration ago, and was not renewed since.
    fn has_expired(&self, conversation: &str, seen: &ForeignLease) -> bool {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, since)) = watched.get(conversation)
            && before == seen
        {
            return since.elapsed() >= seen.duration;
        }
        if watched.len() >= MAX_WATCHED {
            watched.clear();
        }
        watched.insert(conversation.to_owned(), (seen.clone(), Instant::now()));
        false
    }

    fn unwatch(&self, conversation: &str) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.remove(conversation);
    }
}

impl SqliteStore {
    /// Acquires a lease that is free, held by the same holder or by a process that is gone, or has expired; returns its term.
    pub(super) async fn acquire_lease(
        &self,
        conversation: &str,
        holder: &str,
        duration: Duration,
    ) -> Result<Option<i64>, sqlx::Error> {
        // Durable: a term that was returned is not used again.
        let mut connection = self.writer(true).await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let row = sqlx::query(
            "SELECT holder, process, until, duration FROM conversations WHERE name = ?",
        )
        .bind(conversation)
        .fetch_optional(&mut *transaction)
        .await?;
        let held = row.as_ref().map(ForeignLease::read).transpose()?.flatten();
        let held = held.filter(|held| held.holder != holder);
        if let Some(held) = held
            && !self.is_process_gone(&held.process)
            && !self.lease_watch.has_expired(conversation, &held)
        {
            return Ok(None);
        }
        let millis = duration_millis(duration);
        let term = sqlx::query_scalar(
            "INSERT INTO conversations (name, holder, process, until, duration, term)
             SELECT ?, ?, ?, ?, ?, removed_term + 1 FROM meta WHERE true
             ON CONFLICT (name) DO UPDATE SET
                 holder = excluded.holder, process = excluded.process, duration = excluded.duration,
                 until = max(excluded.until, ifnull(until, 0) + 1), term = term + 1
             RETURNING term",
        )
        .bind(conversation)
        .bind(holder)
        .bind(self.process_lock.process_name())
        .bind(now().saturating_add(millis))
        .bind(millis)
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        self.lease_watch.unwatch(conversation);
        Ok(Some(term))
    }

    /// Renews a lease; returns false if it is not held.
    pub(super) async fn renew_lease(
        &self,
        lease: &Lease,
        duration: Duration,
    ) -> Result<bool, sqlx::Error> {
        let millis = duration_millis(duration);
        let renewed = sqlx::query(
            "UPDATE conversations SET duration = ?, until = max(?, ifnull(until, 0) + 1)
             WHERE name = ? AND holder = ? AND term = ?",
        )
        .bind(millis)
        .bind(now().saturating_add(millis))
        .bind(&lease.conversation)
        .bind(&lease.holder)
        .bind(to_sql(lease.term))
        .execute(&mut *self.writer(false).await?)
        .await?;
        Ok(renewed.rows_affected() > 0)
    }

    pub(super) async fn release_lease(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        let mut connection = self.writer(false).await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let released = sqlx::query(
            "UPDATE conversations SET holder = NULL, process = NULL, until = NULL, duration = NULL
             WHERE name = ? AND holder = ? AND term = ?",
        )
        .bind(&lease.conversation)
        .bind(&lease.holder)
        .bind(to_sql(lease.term))
        .execute(&mut *transaction)
        .await?;
        if released.rows_affected() > 0 {
            remove_if_empty(&mut transaction, &lease.conversation).await?;
        }
        transaction.commit().await
    }

    /// Returns the last term of a conversation, and the holder whose lease has not expired.
    pub(super) async fn read_lease_status(
        &self,
        conversation: &str,
    ) -> Result<LeaseStatus, sqlx::Error> {
        let row = sqlx::query(
            "SELECT holder, process, until, duration, ifnull(term, removed_term)
             FROM meta LEFT JOIN conversations ON name = ?",
        )
        .bind(conversation)
        .fetch_one(&self.readers)
        .await?;
        let term = from_sql(row.try_get(4)?);
        let held = ForeignLease::read(&row)?;
        Ok(match held.filter(|held| !self.is_process_gone(&held.process)) {
            Some(held) if self.lease_watch.has_expired(conversation, &held) => {
                LeaseStatus::expired(term)
            }
            held => LeaseStatus::new(term, held.map(|held| held.holder)),
        })
    }

    /// Returns conversations whose lease is free or has expired, and whose turn has to go on.
    pub(super) async fn unattended(&self, limit: usize) -> Result<Vec<String>, sqlx::Error> {
        let rows = sqlx::query(UNATTENDED).fetch_all(&self.readers).await?;
        let mut names = Vec::new();
        // Most leases are of the same few processes.
        let mut gone: HashMap<String, bool> = HashMap::new();
        for row in &rows {
            let name: String = row.try_get(4)?;
            let is_unattended = ForeignLease::read(row)?.is_none_or(|held| {
                let has_expired = self.lease_watch.has_expired(&name, &held);
                let is_gone = gone
                    .entry(held.process)
                    .or_insert_with_key(|process| self.is_process_gone(process));
                has_expired || *is_gone
            });
            if is_unattended {
                names.push(name);
            }
        }
        names.truncate(limit);
        Ok(names)
    }

    /// Returns conversations whose lease this holder has, and whose turn has to go on.
    pub(super) async fn held_by(
        &self,
        holder: &str,
        limit: usize,
    ) -> Result<Vec<String>, sqlx::Error> {
        let rows = sqlx::query(UNATTENDED).fetch_all(&self.readers).await?;
        let mut names = Vec::new();
        for row in &rows {
            let known: Option<String> = row.try_get(0)?;
            if known.as_deref() == Some(holder) {
                names.push(row.try_get(4)?);
            }
        }
        names.truncate(limit);
        Ok(names)
    }

    fn is_process_gone(&self, process: &str) -> bool {
        process_lock::is_process_gone(&self.path, process)
    }
}

/// Returns the number of the conversation if the lease is held: it was not acquired again, even if it has expired.
pub(super) async fn leased_conversation(
    connection: &mut SqliteConnection,
    lease: &Lease,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT number FROM conversations WHERE name = ? AND holder = ? AND term = ?",
    )
    .bind(&lease.conversation)
    .bind(&lease.holder)
    .bind(to_sql(lease.term))
    .fetch_optional(connection)
    .await
}

/// Removes the row of a conversation that has nothing but a term.
pub(super) async fn remove_if_empty(
    connection: &mut SqliteConnection,
    conversation: &str,
) -> Result<(), sqlx::Error> {
    let term: Option<i64> = sqlx::query_scalar(
        "DELETE FROM conversations WHERE name = ? AND holder IS NULL AND entries = 0
         AND NOT EXISTS (SELECT 1 FROM inbox WHERE conversation = number)
         RETURNING term",
    )
    .bind(conversation)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(term) = term {
        sqlx::query("UPDATE meta SET removed_term = max(removed_term, ?)")
            .bind(term)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Milliseconds since 1970. Only people read `until` as a time.
fn now() -> i64 {
    to_sql(unix_millis_now())
}
