//! Values and counters that all processes with the same file share; they expire by the clock of the machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{query, query_as, query_scalar};
use toolwright_chat::StoreError;
use toolwright_core::__internal::prefix_end;
use toolwright_core::{
    Count, SharedState, SharedStateFuture, SharedValue, TimeToLive, check_shared_key,
};

use super::error;
use super::writer::Writer;
use crate::codec::{duration_millis, from_sql, millis, to_sql, ttl_millis};
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

impl SharedState for SqliteSharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            check_shared_key(space, key)?;
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

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        Box::pin(async move {
            check_shared_key(space, key)?;
            let swap = match (expected, new) {
                (None, None) => return Ok(self.get(space, key).await?.is_none()),
                (None, Some(_)) => concat!(
                    "INSERT INTO shared VALUES (?1, ?2, ?4, ",
                    now!(),
                    " + ?5)
                     ON CONFLICT (space, key) DO UPDATE SET
                         value = excluded.value, expires = excluded.expires
                     WHERE shared.expires <= ",
                    now!()
                ),
                (Some(_), Some(_)) => concat!(
                    "UPDATE shared SET value = ?4, expires = iif(?6, expires, ",
                    now!(),
                    " + ?5)
                     WHERE space = ?1 AND key = ?2 AND value = ?3 AND ifnull(expires > ",
                    now!(),
                    ", true)"
                ),
                (Some(_), None) => concat!(
                    "DELETE FROM shared
                     WHERE space = ?1 AND key = ?2 AND value = ?3 AND ifnull(expires > ",
                    now!(),
                    ", true)"
                ),
            };
            let swap = query(swap).bind(space).bind(key).bind(expected).bind(new);
            let swap = swap.bind(ttl_millis(ttl)).bind(ttl == TimeToLive::Unchanged);
            let done = self.write(true, async |connection| swap.execute(connection).await);
            Ok(done.await?.rows_affected() > 0)
        })
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        Box::pin(async move {
            check_shared_key(space.unwrap_or_default(), prefix)?;
            let scan = match space {
                Some(_) => concat!(
                    "SELECT space, key, value, expires - ",
                    now!(),
                    " FROM shared WHERE space = ?1 AND key >= ?2 AND ifnull(key < ?3, true)
                         AND ifnull(expires > ",
                    now!(),
                    ", true)
                     ORDER BY key LIMIT ?4"
                ),
                None => concat!(
                    "SELECT space, key, value, expires - ",
                    now!(),
                    " FROM shared WHERE ?1 IS NULL AND key >= ?2 AND ifnull(key < ?3, true)
                         AND ifnull(expires > ",
                    now!(),
                    ", true)
                     ORDER BY space, key LIMIT ?4"
                ),
            };
            let scan = query_as(scan).bind(space).bind(prefix).bind(prefix_end(prefix));
            let rows = scan.bind(to_sql(limit)).fetch_all(&self.readers).await;
            let rows: Vec<(String, String, String, Option<i64>)> =
                rows.map_err(|error| self.store_error(error))?;
            let values = rows.into_iter().map(|(space, key, value, expires_in)| {
                SharedValue::new(space, key, value, expires_in.map(millis))
            });
            Ok(values.collect())
        })
    }

    /// One statement, whose commit is not synced: a counter is changed often, and what is lost in a power failure is a few calls.
    fn count<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        amount: u64,
        limit: u64,
        window: Duration,
    ) -> SharedStateFuture<'a, Count> {
        Box::pin(async move {
            check_shared_key(space, key)?;
            let (amount, limit) = (to_sql(amount), to_sql(limit));
            let window = duration_millis(window);
            let counted = self.write(false, async |connection| {
                let counter = Counter { space, key, amount, limit, window };
                counter.add(connection).await
            });
            let (is_admitted, total, resets_in) = counted.await?;
            Ok(Count::new(is_admitted, from_sql(total), millis(resets_in)))
        })
    }
}

/// An addition to a counter.
struct Counter<'a> {
    space: &'a str,
    key: &'a str,
    amount: i64,
    limit: i64,
    /// In milliseconds.
    window: i64,
}

/// The sum of the counter in the row: the digits with which its value begins, or 0.
macro_rules! total {
    () => {
        "CAST(shared.value AS INTEGER)"
    };
}

/// True if the counter in the row goes on: it restarts if its time has come, or is further away than the window, because the window was
/// longer or the clock was set back. Null if the value never expires.
macro_rules! goes_on {
    () => {
        concat!("shared.expires BETWEEN ", now!(), " + 1 AND ", now!(), " + ?5")
    };
}

impl Counter<'_> {
    /// Returns whether it was added, the sum, and the milliseconds until the counter restarts.
    async fn add(self, connection: &mut SqliteConnection) -> Result<(bool, i64, i64), sqlx::Error> {
        let Self { space, key, amount, limit, window } = self;
        let added = query_as(concat!(
            "INSERT INTO shared SELECT ?1, ?2, CAST(?3 AS TEXT), ",
            now!(),
            " + ?5 WHERE ?3 BETWEEN 1 AND ?4
             ON CONFLICT (space, key) DO UPDATE SET
                 value = CAST(?3 + iif(",
            goes_on!(),
            ", ",
            total!(),
            ", 0) AS TEXT),
                 expires = iif(",
            goes_on!(),
            ", shared.expires, excluded.expires)
             WHERE ?3 <= ?4 - ",
            total!(),
            " OR NOT ifnull(",
            goes_on!(),
            ", false)
             RETURNING ",
            total!(),
            ", expires - ",
            now!()
        ));
        let added = added.bind(space).bind(key).bind(amount).bind(limit).bind(window);
        let added: Vec<(i64, i64)> = added.fetch_all(&mut *connection).await?;
        if let Some((total, resets_in)) = added.first() {
            return Ok((true, *total, *resets_in));
        }
        let known = query_as(concat!(
            "SELECT ",
            total!(),
            ", expires - ",
            now!(),
            " FROM shared WHERE space = ?1 AND key = ?2 AND ",
            goes_on!()
        ));
        let known = known.bind(space).bind(key).bind(amount).bind(limit).bind(window);
        let known: Option<(i64, i64)> = known.fetch_optional(connection).await?;
        let (total, resets_in) = known.unwrap_or((0, window));
        Ok((amount == 0 && total <= limit, total, resets_in))
    }
}
