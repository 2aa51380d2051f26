//! Journals in PostgreSQL, for many nodes.
//!
//! A lease lasts by the clock of the database, so nodes need not agree on the time. Everything that is asked here can be asked
//! twice, and is, when the connection it was asked over is lost.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::Row as _;
use sqlx::postgres::PgPool;
use toolwright_chat::{Entry, Lease, Owner, Store, StoreError, Summary};
use toolwright_core::Secret;

use crate::codec;
use crate::load::Load;

mod connect;
mod error;
mod journal;
mod lease;
mod schema;

/// Keeps journals in a PostgreSQL database, which several nodes may share.
///
/// The tables are called `toolwright_…` and are in the first schema of the search path.
///
/// # Examples
///
/// ```no_run
/// use toolwright_memory::PostgresStore;
///
/// # async fn example() -> Result<(), toolwright::chat::StoreError> {
/// let store = PostgresStore::connect("postgres://assistant@localhost/assistant").await?;
/// # Ok(()) }
/// ```
pub struct PostgresStore {
    pool: PgPool,
    /// Which database, without secrets.
    place: String,
    load: Load,
}

impl PostgresStore {
    fn trouble(&self, error: sqlx::Error) -> StoreError {
        error::of(&self.place, error)
    }

    /// Does something, and again where the connection was lost on the way.
    async fn surely<T, F>(&self, work: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        // Each connection that was made before may be as lost as the first.
        for _ in 0..self.pool.size() {
            match work().await {
                Err(error) if error::is_lost(&error) => {}
                done => return done.map_err(|error| self.trouble(error)),
            }
        }
        work().await.map_err(|error| self.trouble(error))
    }
}

impl Store for PostgresStore {
    fn lease<'a>(
        &'a self,
        lease: &'a Lease,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.load.run(self.surely(move || self.take(lease, life))))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.load.run(self.surely(|| self.give_back(lease))))
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let texts = codec::write(entries)?;
            let added = self.surely(|| self.add(lease, entries, &texts));
            match self.load.run(added).await? {
                true => {
                    self.load.wrote();
                    Ok(())
                }
                false => Err(StoreError::taken(lease)),
            }
        })
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move {
            let rows = self
                .surely(|| self.texts(conversation, before, most))
                .await?;
            let entries = rows.iter().rev().map(|row| {
                let text = row.try_get(0).map_err(|error| self.trouble(error))?;
                codec::read(conversation, text)
            });
            entries.collect()
        })
    }

    fn list(&self, most: usize) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(self.surely(move || self.summaries(None, most)))
    }

    fn list_of<'a>(
        &'a self,
        owner: &'a Owner,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Summary>, StoreError>> {
        Box::pin(self.surely(move || self.summaries(Some(owner), most)))
    }

    fn forget<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let forgotten = self.load.run(self.surely(|| self.drop_all(lease))).await?;
            forgotten.ok_or_else(|| StoreError::taken(lease))
        })
    }

    fn key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        Box::pin(async move {
            let drawn = codec::key()?;
            let key = self.surely(|| self.kept_key(&drawn)).await?;
            Ok(Secret::new(key))
        })
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let probe = self.surely(|| self.probe());
            self.load.check(|| self.place.clone(), probe).await
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.place).finish()
    }
}
