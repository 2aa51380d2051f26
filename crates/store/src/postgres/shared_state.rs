//! Values and counters that all nodes share; they expire by the clock of the database.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{Row as _, query};
use toolwright_core::__internal::prefix_end;
use toolwright_core::{
    Count, SharedState, SharedStateError, SharedStateFuture, SharedValue, TimeToLive,
    check_shared_key,
};

use super::journal::text_column;
use super::retry::{Database, Retried};
use crate::codec::{duration_millis, from_sql, millis, to_sql, ttl_millis};
use crate::sweep_schedule::{MAX_SWEPT, SweepSchedule};
use crate::write_load::WriteLoad;

/// The shared state of a [`PostgresStore`](super::PostgresStore).
pub(super) struct PostgresSharedState {
    pub(super) database: Database,
    pub(super) load: Arc<WriteLoad>,
    pub(super) sweeps: SweepSchedule,
}

impl PostgresSharedState {
    async fn read<T, F>(&self, operation: impl Fn() -> F) -> Result<T, SharedStateError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        Ok(self.database.with_retry(operation).await?.result)
    }

    /// Runs a write, and sometimes removes expired values afterwards.
    async fn write<T, F>(&self, operation: impl Fn() -> F) -> Result<Retried<T>, SharedStateError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let written = self.load.measure(self.database.with_retry(operation)).await?;
        if self.sweeps.is_due() {
            // The write is done; what is not removed now is removed later.
            let _ = self.remove_expired().await;
        }
        Ok(written)
    }

    /// Removes some of the expired values, except those that another node is about to remove or to replace.
    async fn remove_expired(&self) -> Result<(), sqlx::Error> {
        query(
            "DELETE FROM toolwright_shared WHERE (space, key) IN (
                 SELECT space, key FROM toolwright_shared WHERE expires <= clock_timestamp()
                 LIMIT $1 FOR UPDATE SKIP LOCKED
             )",
        )
        .bind(MAX_SWEPT)
        .execute(&self.database)
        .await?;
        Ok(())
    }

    /// Returns the result of a swap. One that failed after its connection was lost may have succeeded before.
    fn unless_ambiguous(&self, swapped: Retried<bool>) -> Result<bool, SharedStateError> {
        if swapped.may_repeat && !swapped.result {
            let label = &self.database.label;
            return Err(SharedStateError::new(format!(
                "{label} closed the connection before it confirmed a change: try again"
            )));
        }
        Ok(swapped.result)
    }
}

impl SharedState for PostgresSharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            check_shared_key(space, key)?;
            let read = || {
                query(
                    "SELECT value FROM toolwright_shared WHERE space = $1 AND key = $2
                     AND (expires IS NULL OR expires > clock_timestamp())",
                )
                .bind(space)
                .bind(key.as_bytes())
                .fetch_optional(&self.database)
            };
            let row = self.read(read).await?;
            let value = row.as_ref().map(|row| text_column(row, 0)).transpose();
            Ok(value.map_err(|error| self.database.store_error(error))?)
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
                (None, Some(_)) => {
                    "INSERT INTO toolwright_shared AS known
                     VALUES ($1, $2, $4, clock_timestamp() + $5 * interval '1 millisecond')
                     ON CONFLICT (space, key) DO UPDATE SET
                         value = excluded.value, expires = excluded.expires
                     WHERE known.expires <= clock_timestamp()"
                }
                (Some(_), Some(_)) => {
                    "UPDATE toolwright_shared SET value = $4, expires = CASE WHEN $6
                         THEN expires ELSE clock_timestamp() + $5 * interval '1 millisecond' END
                     WHERE space = $1 AND key = $2 AND value = $3
                         AND (expires IS NULL OR expires > clock_timestamp())"
                }
                (Some(_), None) => {
                    "DELETE FROM toolwright_shared
                     WHERE space = $1 AND key = $2 AND value = $3
                         AND (expires IS NULL OR expires > clock_timestamp())"
                }
            };
            let attempt = async || {
                let swap = query(swap)
                    .bind(space)
                    .bind(key.as_bytes())
                    .bind(expected.map(str::as_bytes))
                    .bind(new.map(str::as_bytes))
                    .bind(ttl_millis(ttl))
                    .bind(ttl == TimeToLive::Unchanged);
                Ok(swap.execute(&self.database).await?.rows_affected() > 0)
            };
            self.unless_ambiguous(self.write(attempt).await?)
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
            let end = prefix_end(prefix);
            let scan = || {
                query(
                    "SELECT space, key, value,
                         ceil(extract(epoch FROM expires - clock_timestamp()) * 1000)::bigint
                     FROM toolwright_shared
                     WHERE ($1 IS NULL OR space = $1) AND key >= $2 AND ($3 IS NULL OR key < $3)
                         AND (expires IS NULL OR expires > clock_timestamp())
                     ORDER BY space, key LIMIT $4",
                )
                .bind(space)
                .bind(prefix.as_bytes())
                .bind(end.as_ref().map(String::as_bytes))
                .bind(to_sql(limit))
                .fetch_all(&self.database)
            };
            let rows: Vec<PgRow> = self.read(scan).await?;
            let value = |row: &PgRow| {
                let (space, expires_in): (String, Option<i64>) = (row.try_get(0)?, row.try_get(3)?);
                let (key, value) = (text_column(row, 1)?, text_column(row, 2)?);
                Ok(SharedValue::new(space, key, value, expires_in.map(millis)))
            };
            let values: Result<_, sqlx::Error> = rows.iter().map(value).collect();
            Ok(values.map_err(|error| self.database.store_error(error))?)
        })
    }

    /// One statement, which may be repeated: a lost connection is no error.
    fn put<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, ()> {
        Box::pin(async move {
            check_shared_key(space, key)?;
            let put = || {
                query(
                    "INSERT INTO toolwright_shared
                     VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
                     ON CONFLICT (space, key) DO UPDATE SET
                         value = excluded.value, expires = excluded.expires",
                )
                .bind(space)
                .bind(key.as_bytes())
                .bind(value.as_bytes())
                .bind(ttl.map(duration_millis))
                .execute(&self.database)
            };
            self.write(put).await?;
            Ok(())
        })
    }

    /// One statement, whose commit is not synced: a counter is changed often, by all nodes.
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
            let count = async || {
                let row = query(
                    "SELECT is_admitted, new_total, resets_in FROM toolwright_count($1, $2, $3, $4, $5)",
                )
                .bind(space)
                .bind(key.as_bytes())
                .bind(to_sql(amount))
                .bind(to_sql(limit))
                .bind(duration_millis(window))
                .fetch_one(&self.database)
                .await?;
                let (total, resets_in) = (from_sql(row.try_get(1)?), millis(row.try_get(2)?));
                Ok(Count::new(row.try_get(0)?, total, resets_in))
            };
            Ok(self.write(count).await?.result)
        })
    }
}
