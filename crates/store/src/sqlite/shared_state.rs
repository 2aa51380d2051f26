//! Values and counters that all processes with the same file share; they expire by the clock of the machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{Row as _, query, query_as, query_scalar};
use toolwright_chat::StoreError;
use toolwright_core::__internal::{check_key, prefix_end};
use toolwright_core::{Count, SharedState, SharedStateFuture};

use super::error;
use super::writer::Writer;
use crate::codec::{duration_millis, from_sql, to_sql};
use crate::sweep_schedule::{MAX_SWEPT, SweepSchedule};
use crate::write_load::WriteLoad;

/// The time in milliseconds since 1970; SQLite reads the clock after it has locked the file, so it never goes back from one
/// write to the next.
macro_rules! now {
    () => {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    };
}

/// The shared state of a [`SqliteStore`](super::SqliteStore).
pub(super) struct SqliteSharedState {
    pub(super) path: PathBuf,
    pub(super) writer: Writer,
    pub(super) readers: SqlitePool,
    pub(super) load: Arc<WriteLoad>,
    pub(super) sweeps: SweepSchedule,
}

impl SqliteSharedState {
    fn store_error(&self, error: sqlx::Error) -> StoreError {
        error::store_error(&self.path, error)
    }

    /// Runs a write, and sometimes removes expired values afterwards.
    async fn write<T>(
        &self,
        durable: bool,
        operation: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        let write = async {
            let mut connection = self.writer.connection(durable).await?;
            let result = operation(&mut connection).await?;
            if self.sweeps.is_due() {
                // The write is done; what is not removed now is removed later.
                let _ = remove_expired(&mut connection).await;
            }
            Ok(result)
        };
        self.load.measure(async { write.await.map_err(|error| self.store_error(error)) }).await
    }
}

/// Removes some of the expired values.
async fn remove_expired(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    query(concat!(
        "DELETE FROM shared WHERE (space, key) IN
             (SELECT space, key FROM shared WHERE expires <= ",
        now!(),
        " LIMIT ?)"
    ))
    .bind(MAX_SWEPT)
    .execute(connection)
    .await?;
    Ok(())
}

fn ttl_millis(ttl: Option<Duration>) -> Option<i64> {
    ttl.map(duration_millis)
}

impl SharedState for SqliteSharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            check_key(space, key)?;
            let value = query_scalar(concat!(
                "SELECT value FROM shared WHERE space = ? AND key = ? AND ifnull(expires > ",
                now!(),
                ", true)"
            ))
            .bind(space)
            .bind(key)
            .fetch_optional(&self.readers);
            Ok(value.await.map_err(|error| self.store_error(error))?)
        })
    }

    fn put<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, ()> {
        Box::pin(async move {
            check_key(space, key)?;
            let put = query(concat!(
                "INSERT INTO shared VALUES (?, ?, ?, 0, ",
                now!(),
                " + ?)
                 ON CONFLICT (space, key) DO UPDATE SET
                     value = excluded.value, total = 0, expires = excluded.expires"
            ));
            let put = put.bind(space).bind(key).bind(value).bind(ttl_millis(ttl));
            self.write(true, async |connection| put.execute(connection).await).await?;
            Ok(())
        })
    }

    fn insert<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        Box::pin(async move {
            check_key(space, key)?;
            let insert = query(concat!(
                "INSERT INTO shared VALUES (?, ?, ?, 0, ",
                now!(),
                " + ?)
                 ON CONFLICT (space, key) DO UPDATE SET
                     value = excluded.value, total = 0, expires = excluded.expires
                 WHERE shared.expires <= ",
                now!()
            ));
            let insert = insert.bind(space).bind(key).bind(value).bind(ttl_millis(ttl));
            let done = self.write(true, async |connection| insert.execute(connection).await);
            Ok(done.await?.rows_affected() > 0)
        })
    }

    fn replace<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, bool> {
        Box::pin(async move {
            check_key(space, key)?;
            let replace = query(concat!(
                "UPDATE shared SET value = ?4, total = 0, expires = ",
                now!(),
                " + ?5
                 WHERE space = ?1 AND key = ?2 AND value = ?3 AND ifnull(expires > ",
                now!(),
                ", true)"
            ));
            let replace = replace.bind(space).bind(key).bind(expected).bind(value);
            let replace = replace.bind(ttl_millis(ttl));
            let done = self.write(true, async |connection| replace.execute(connection).await);
            Ok(done.await?.rows_affected() > 0)
        })
    }

    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            check_key(space, key)?;
            let remove = query_as(concat!(
                "DELETE FROM shared WHERE space = ? AND key = ?
                 RETURNING value, ifnull(expires > ",
                now!(),
                ", true)"
            ));
            let remove = remove.bind(space).bind(key);
            let removed: Vec<(String, bool)> =
                self.write(true, async |connection| remove.fetch_all(connection).await).await?;
            Ok(removed.into_iter().find(|(_, is_valid)| *is_valid).map(|(value, _)| value))
        })
    }

    fn remove_prefix<'a>(&'a self, prefix: &'a str) -> SharedStateFuture<'a, u64> {
        Box::pin(async move {
            let remove = query_scalar(concat!(
                "DELETE FROM shared WHERE key >= ?1 AND ifnull(key < ?2, true)
                 RETURNING ifnull(expires > ",
                now!(),
                ", true)"
            ));
            let remove = remove.bind(prefix).bind(prefix_end(prefix));
            let removed: Vec<bool> =
                self.write(true, async |connection| remove.fetch_all(connection).await).await?;
            Ok(removed.into_iter().map(u64::from).sum())
        })
    }

    fn list<'a>(
        &'a self,
        space: &'a str,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<(String, String)>> {
        Box::pin(async move {
            check_key(space, prefix)?;
            let listed = query_as(concat!(
                "SELECT key, value FROM shared
                 WHERE space = ?1 AND key >= ?2 AND ifnull(key < ?3, true)
                     AND ifnull(expires > ",
                now!(),
                ", true)
                 ORDER BY key LIMIT ?4"
            ))
            .bind(space)
            .bind(prefix)
            .bind(prefix_end(prefix))
            .bind(to_sql(limit))
            .fetch_all(&self.readers);
            Ok(listed.await.map_err(|error| self.store_error(error))?)
        })
    }

    fn count<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
        limit: u64,
        window: Duration,
    ) -> SharedStateFuture<'a, Count> {
        Box::pin(async move {
            check_key(space, key)?;
            let (amount, limit) = (to_sql(amount), to_sql(limit));
            let millis = duration_millis(window);
            // Not durable: what is lost in a power failure is a few calls that were counted.
            let counted = self.write(false, async |connection| {
                let counter = Counter { space, key, amount, limit, millis };
                counter.add(connection).await
            });
            let (is_admitted, total, resets_in) = counted.await?;
            let resets_in = Duration::from_millis(from_sql(resets_in));
            Ok(Count::new(is_admitted, from_sql(total), resets_in))
        })
    }

    fn uncount<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
    ) -> SharedStateFuture<'a, ()> {
        Box::pin(async move {
            check_key(space, key)?;
            let uncount = query(concat!(
                "UPDATE shared SET total = max(total - ?3, 0)
                 WHERE space = ?1 AND key = ?2 AND expires > ",
                now!()
            ));
            let uncount = uncount.bind(space).bind(key).bind(to_sql(amount));
            self.write(false, async |connection| uncount.execute(connection).await).await?;
            Ok(())
        })
    }
}

/// An addition to a counter.
struct Counter<'a> {
    space: &'a str,
    key: &'a str,
    amount: i64,
    limit: i64,
    /// The length of the window.
    millis: i64,
}

impl Counter<'_> {
    /// Returns whether it was added, the sum, and the milliseconds until the counter restarts.
    async fn add(self, connection: &mut SqliteConnection) -> Result<(bool, i64, i64), sqlx::Error> {
        let Self { space, key, amount, limit, millis } = self;
        // A counter restarts if its time has come, or is further away than the window: then the clock was set back.
        let added = query(concat!(
            "INSERT INTO shared SELECT ?1, ?2, '', ?3, ",
            now!(),
            " + ?5 WHERE ?3 BETWEEN 1 AND ?4
             ON CONFLICT (space, key) DO UPDATE SET
                 value = '',
                 total = CASE WHEN shared.expires BETWEEN ",
            now!(),
            " + 1 AND excluded.expires
                     THEN shared.total ELSE 0 END + excluded.total,
                 expires = CASE WHEN shared.expires BETWEEN ",
            now!(),
            " + 1 AND excluded.expires
                     THEN shared.expires ELSE excluded.expires END
             WHERE excluded.total <= ?4 - shared.total
                 OR ifnull(shared.expires NOT BETWEEN ",
            now!(),
            " + 1 AND excluded.expires, true)
             RETURNING total, expires - ",
            now!()
        ));
        let added = added.bind(space).bind(key).bind(amount).bind(limit).bind(millis);
        if let Some(row) = added.fetch_all(&mut *connection).await?.first() {
            return Ok((true, row.try_get(0)?, row.try_get(1)?));
        }
        let known = query_as(concat!(
            "SELECT total, expires - ",
            now!(),
            " FROM shared
             WHERE space = ?1 AND key = ?2 AND expires BETWEEN ",
            now!(),
            " + 1 AND ",
            now!(),
            " + ?3"
        ));
        let known = known.bind(space).bind(key).bind(millis).fetch_optional(connection).await?;
        let (total, resets_in): (i64, i64) = known.unwrap_or((0, millis));
        Ok((amount == 0 && total <= limit, total, resets_in))
    }
}
