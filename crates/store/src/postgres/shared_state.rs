//! Values and counters that all nodes share; they expire by the clock of the database.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{Row as _, query, query_scalar};
use toolwright_core::__internal::{check_key, prefix_end};
use toolwright_core::{Count, SharedState, SharedStateError, SharedStateFuture};

use super::journal::text_column;
use super::retry::{Database, Retried};
use crate::codec::{duration_millis, from_sql, to_sql};
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

    /// Returns the result of an operation that only one of several callers succeeds with. One that failed after its connection
    /// was lost may have succeeded before.
    fn unless_ambiguous<T>(
        &self,
        written: Retried<T>,
        has_succeeded: impl Fn(&T) -> bool,
    ) -> Result<T, SharedStateError> {
        if written.may_repeat && !has_succeeded(&written.result) {
            let label = &self.database.label;
            return Err(SharedStateError::new(format!(
                "{label} closed the connection before it confirmed a change: try again"
            )));
        }
        Ok(written.result)
    }
}

fn ttl_millis(ttl: Option<Duration>) -> Option<i64> {
    ttl.map(duration_millis)
}

impl SharedState for PostgresSharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            check_key(space, key)?;
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

    fn put<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        value: &'a str,
        ttl: Option<Duration>,
    ) -> SharedStateFuture<'a, ()> {
        Box::pin(async move {
            check_key(space, key)?;
            let put = || {
                query(
                    "INSERT INTO toolwright_shared
                     VALUES ($1, $2, $3, 0, clock_timestamp() + $4 * interval '1 millisecond')
                     ON CONFLICT (space, key) DO UPDATE SET
                         value = excluded.value, total = 0, expires = excluded.expires",
                )
                .bind(space)
                .bind(key.as_bytes())
                .bind(value.as_bytes())
                .bind(ttl_millis(ttl))
                .execute(&self.database)
            };
            self.write(put).await?;
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
            let insert = async || {
                let done = query(
                    "INSERT INTO toolwright_shared AS known
                     VALUES ($1, $2, $3, 0, clock_timestamp() + $4 * interval '1 millisecond')
                     ON CONFLICT (space, key) DO UPDATE SET
                         value = excluded.value, total = 0, expires = excluded.expires
                     WHERE known.expires <= clock_timestamp()",
                )
                .bind(space)
                .bind(key.as_bytes())
                .bind(value.as_bytes())
                .bind(ttl_millis(ttl))
                .execute(&self.database)
                .await?;
                Ok(done.rows_affected() > 0)
            };
            self.unless_ambiguous(self.write(insert).await?, |is_inserted| *is_inserted)
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
            let replace = async || {
                let done = query(
                    "UPDATE toolwright_shared SET value = $4, total = 0,
                         expires = clock_timestamp() + $5 * interval '1 millisecond'
                     WHERE space = $1 AND key = $2 AND value = $3
                         AND (expires IS NULL OR expires > clock_timestamp())",
                )
                .bind(space)
                .bind(key.as_bytes())
                .bind(expected.as_bytes())
                .bind(value.as_bytes())
                .bind(ttl_millis(ttl))
                .execute(&self.database)
                .await?;
                Ok(done.rows_affected() > 0)
            };
            self.unless_ambiguous(self.write(replace).await?, |is_replaced| *is_replaced)
        })
    }

    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            check_key(space, key)?;
            let remove = async || {
                let row = query(
                    "DELETE FROM toolwright_shared WHERE space = $1 AND key = $2
                     RETURNING value, expires IS NULL OR expires > clock_timestamp()",
                )
                .bind(space)
                .bind(key.as_bytes())
                .fetch_optional(&self.database)
                .await?;
                match row {
                    Some(row) if row.try_get(1)? => Ok(Some(text_column(&row, 0)?)),
                    _ => Ok(None),
                }
            };
            self.unless_ambiguous(self.write(remove).await?, Option::is_some)
        })
    }

    fn remove_prefix<'a>(&'a self, prefix: &'a str) -> SharedStateFuture<'a, u64> {
        Box::pin(async move {
            let end = prefix_end(prefix);
            let remove = || {
                query_scalar(
                    "DELETE FROM toolwright_shared WHERE key >= $1 AND ($2 IS NULL OR key < $2)
                     RETURNING expires IS NULL OR expires > clock_timestamp()",
                )
                .bind(prefix.as_bytes())
                .bind(end.as_ref().map(String::as_bytes))
                .fetch_all(&self.database)
            };
            let removed: Vec<bool> = self.write(remove).await?.result;
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
            let end = prefix_end(prefix);
            let list = || {
                query(
                    "SELECT key, value FROM toolwright_shared
                     WHERE space = $1 AND key >= $2 AND ($3 IS NULL OR key < $3)
                         AND (expires IS NULL OR expires > clock_timestamp())
                     ORDER BY key LIMIT $4",
                )
                .bind(space)
                .bind(prefix.as_bytes())
                .bind(end.as_ref().map(String::as_bytes))
                .bind(to_sql(limit))
                .fetch_all(&self.database)
            };
            let rows: Vec<PgRow> = self.read(list).await?;
            let listed = rows.iter().map(|row| Ok((text_column(row, 0)?, text_column(row, 1)?)));
            let listed: Result<_, sqlx::Error> = listed.collect();
            Ok(listed.map_err(|error| self.database.store_error(error))?)
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
                let (total, resets_in) = (from_sql(row.try_get(1)?), from_sql(row.try_get(2)?));
                Ok(Count::new(row.try_get(0)?, total, Duration::from_millis(resets_in)))
            };
            Ok(self.write(count).await?.result)
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
            let uncount = query(
                "UPDATE toolwright_shared SET total = greatest(total - $3, 0)
                 WHERE space = $1 AND key = $2 AND expires > clock_timestamp()",
            );
            let uncount = uncount.bind(space).bind(key.as_bytes()).bind(to_sql(amount));
            // Not retried: to subtract twice would admit more than the limit.
            let uncounted = uncount.execute(&self.database).await;
            uncounted.map_err(|error| self.database.store_error(error))?;
            Ok(())
        })
    }
}
