//! Journals in PostgreSQL, for many nodes.
//!
//! Leases expire by the clock of the database, so the clocks of the nodes may differ. Every operation is idempotent, and is
//! retried when its connection is lost.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::Row as _;
use sqlx::postgres::PgPool;
use toolwright_chat::{ConversationSummary, Entry, Lease, Owner, Store, StoreError, random_hex};
use toolwright_core::Secret;

use crate::codec;
use crate::write_load::WriteLoad;

mod connect;
mod error;
mod journal;
mod lease;
mod schema;

/// Stores journals in a PostgreSQL database, which several nodes may share.
///
/// The tables are named `toolwright_…` and are in the first schema of the search path.
///
/// # Examples
///
/// ```no_run
/// use toolwright_store::PostgresStore;
///
/// # async fn example() -> Result<(), toolwright::chat::StoreError> {
/// let store = PostgresStore::connect("postgres://assistant@localhost/assistant").await?;
/// # Ok(()) }
/// ```
pub struct PostgresStore {
    pool: PgPool,
    /// Names the database in error messages, without the password.
    label: String,
    load: WriteLoad,
}

impl PostgresStore {
    fn store_error(&self, error: sqlx::Error) -> StoreError {
        error::store_error(&self.label, error)
    }

    /// Runs an operation, and retries it while its connection is lost.
    async fn with_retry<T, F>(&self, operation: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        // Every pooled connection may be lost, not only the first.
        for _ in 0..self.pool.size() {
            match operation().await {
                Err(error) if error::is_connection_lost(&error) => {}
                result => return result.map_err(|error| self.store_error(error)),
            }
        }
        operation().await.map_err(|error| self.store_error(error))
    }
}

impl Store for PostgresStore {
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        duration: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.load.measure(self.with_retry(move || self.acquire_lease(lease, duration))))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.load.measure(self.with_retry(|| self.release_lease(lease))))
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let texts = codec::encode_entries(entries)?;
            let append = self.with_retry(|| self.append_entries(lease, entries, &texts));
            self.load.append(lease, append).await
        })
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move {
            let rows = self.with_retry(|| self.entry_rows(conversation, before, limit)).await?;
            let entries = rows.iter().rev().map(|row| {
                let text = row.try_get(0).map_err(|error| self.store_error(error))?;
                codec::decode_entry(conversation, text)
            });
            entries.collect()
        })
    }

    fn list(&self, limit: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>> {
        Box::pin(self.with_retry(move || self.summaries(None, limit)))
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>> {
        Box::pin(self.with_retry(move || self.summaries(Some(owner), limit)))
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let delete = self.with_retry(|| self.delete_conversation(lease));
            let deleted = self.load.measure(delete).await?;
            deleted.ok_or_else(|| StoreError::leased_elsewhere(lease))
        })
    }

    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        Box::pin(async move {
            let new_key = random_hex(32)?;
            self.with_retry(|| self.load_or_insert_key(&new_key)).await.map(Secret::new)
        })
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let probe = self.with_retry(|| self.probe());
            self.load.check(|| self.label.clone(), probe).await
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.label).finish()
    }
}
