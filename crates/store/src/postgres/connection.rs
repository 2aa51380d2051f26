//! Connections of the pool, which never wait for a server that has vanished.
//!
//! A machine that is switched off or cut off closes no connection, and the driver would wait for its response for ever: each
//! such query would hold one of the few connections of the pool. So queries have a timeout, and a connection whose query was
//! abandoned is closed instead of being used again.

use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Either, Execute, Executor, PgConnection, Postgres, SqlStr};
use tokio::time::timeout;

use super::retry::Database;

/// How long a query may take: a third of the default duration of a lease, so that a renewal that is lost can be repeated in time.
pub(super) const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection may take to answer a ping.
pub(super) const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection of the pool, which is closed when it is dropped in the middle of a query.
pub(super) struct PooledConnection {
    connection: PoolConnection<Postgres>,
    /// True if no query runs.
    is_idle: bool,
}

impl PooledConnection {
    /// Returns the connection to the pool after its last query.
    pub(super) fn release(mut self) {
        self.is_idle = true;
    }
}

impl Deref for PooledConnection {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for PooledConnection {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if self.is_idle {
            // It pings the server before it returns, without a timeout of its own.
            tokio::spawn(timeout(PING_TIMEOUT, self.connection.return_to_pool()));
        } else {
            self.connection.close_on_drop();
        }
    }
}

impl Database {
    /// Acquires a connection, which has to be released.
    pub(super) async fn acquire(&self) -> Result<PooledConnection, sqlx::Error> {
        Ok(PooledConnection { connection: self.pool.acquire().await?, is_idle: false })
    }

    /// Waits for a query; fails as if its connection was lost if it takes too long.
    pub(super) async fn within_timeout<F: Future>(
        &self,
        query: F,
    ) -> Result<F::Output, sqlx::Error> {
        within(self.query_timeout, query).await
    }
}

/// Waits for a query for so long; fails as if its connection was lost after that.
pub(super) async fn within<F: Future>(limit: Duration, query: F) -> Result<F::Output, sqlx::Error> {
    timeout(limit, query).await.map_err(|_| sqlx::Error::Io(io::ErrorKind::TimedOut.into()))
}

/// Runs each query on a connection of the pool, with a timeout.
impl<'c> Executor<'c> for &'c Database {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let fetch = async move {
            let mut connection = self.acquire().await?;
            let fetch = connection.fetch_many(query).try_collect::<Vec<_>>();
            let fetched = self.within_timeout(fetch).await?;
            connection.release();
            fetched
        };
        let rows = stream::once(fetch).map_ok(|rows| stream::iter(rows.into_iter().map(Ok)));
        rows.try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxFuture<'e, Result<Option<PgRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        Box::pin(async move {
            let mut connection = self.acquire().await?;
            let fetched = self.within_timeout(connection.fetch_optional(query)).await?;
            connection.release();
            fetched
        })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, sqlx::Error>>
    where
        'c: 'e,
    {
        Box::pin(async move {
            let mut connection = self.acquire().await?;
            let prepared = self.within_timeout(connection.prepare_with(sql, parameters)).await?;
            connection.release();
            prepared
        })
    }
}
