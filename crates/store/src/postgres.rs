//! Journals in PostgreSQL, for many nodes.
//!
//! Leases expire by the clock of the database, so the clocks of the nodes may differ. Every operation is idempotent, and is
//! retried when its connection is lost or does not answer in time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Row as _;
use toolwright_chat::{
    Append, ConversationSummary, Entry, InboxItem, Lease, LeaseStatus, Owner, Store, StoreError,
    StoreFuture, StoreScope, TailEnd, random_hex,
};
use toolwright_core::{Secret, SharedState};

use crate::codec::{self, InboxRow, ListFilter, from_sql};
use crate::write_load::WriteLoad;

mod connect;
mod connection;
mod error;
mod inbox;
mod journal;
mod lease;
mod retry;
mod rows;
mod schema;
mod shared_state;
#[cfg(test)]
mod tests;

use retry::{Database, Retried};
use shared_state::PostgresSharedState;

/// Stores journals in a PostgreSQL database, which several nodes may share.
///
/// The tables are named `toolwright_…` and are in the first schema of the search path.
///
/// # Examples
///
/// ```no_run
/// use toolwright::store::PostgresStore;
///
/// # async fn example() -> Result<(), toolwright::chat::StoreError> {
/// let store = PostgresStore::connect("postgres://assistant@localhost/assistant").await?;
/// # Ok(()) }
/// ```
pub struct PostgresStore {
    database: Database,
    load: Arc<WriteLoad>,
    shared_state: Arc<PostgresSharedState>,
}

impl PostgresStore {
    fn store_error(&self, error: sqlx::Error) -> StoreError {
        self.database.store_error(error)
    }

    /// Runs an operation, and retries it while its connection is lost.
    async fn with_retry<T, F>(&self, operation: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        Ok(self.database.with_retry(operation).await?.result)
    }
}

impl Store for PostgresStore {
    fn scope(&self) -> StoreScope {
        StoreScope::Cluster
    }

    fn acquire<'a>(
        &'a self,
        conversation: &'a str,
        holder: &'a str,
        duration: Duration,
    ) -> StoreFuture<'a, Option<Lease>> {
        Box::pin(async move {
            let acquire = self.with_retry(|| self.acquire_lease(conversation, holder, duration));
            let term = self.load.measure(acquire).await?;
            Ok(term.map(|term| Lease::new(conversation, holder, from_sql(term))))
        })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool> {
        Box::pin(self.load.measure(self.with_retry(move || self.renew_lease(lease, duration))))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        Box::pin(self.load.measure(self.with_retry(|| self.release_lease(lease))))
    }

    fn lease_status<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, LeaseStatus> {
        Box::pin(self.with_retry(|| self.read_lease_status(conversation)))
    }

    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let texts = codec::encode_entries(append.entries)?;
            let append = self.with_retry(|| self.append_entries(lease, append, &texts));
            self.load.append(lease, append).await
        })
    }

    fn push_inbox<'a>(
        &'a self,
        conversation: &'a str,
        item: &'a InboxItem,
        limit: usize,
    ) -> StoreFuture<'a, Option<u64>> {
        Box::pin(async move {
            let row = InboxRow::encode(item)?;
            let push = self.with_retry(|| self.push_item(conversation, item, &row, limit));
            self.load.push(push).await
        })
    }

    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>> {
        Box::pin(async move {
            let rows = self.with_retry(|| self.inbox_rows(conversation)).await?;
            rows.into_iter().map(|row| row.decode(conversation)).collect()
        })
    }

    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.load.measure(async move {
            let id = self.with_retry(|| self.item_id(conversation, position)).await?;
            let Some(id) = id else { return Ok(false) };
            let remove = || self.remove_item(conversation, position);
            let Retried { result, may_repeat } = self.database.with_retry(remove).await?;
            if result || !may_repeat {
                return Ok(result);
            }
            // The first attempt may have removed it. If a holder has taken it instead, the journal has its entry.
            let taken = self.with_retry(|| self.has_entry(conversation, &id)).await?;
            Ok(!taken)
        }))
    }

    fn list_unattended(&self, limit: usize) -> StoreFuture<'_, Vec<String>> {
        Box::pin(self.with_retry(move || self.unattended(limit)))
    }

    fn list_held_by<'a>(&'a self, holder: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        Box::pin(self.with_retry(move || self.held_by(holder, limit)))
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        end: TailEnd<'a>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Entry>> {
        Box::pin(async move {
            let rows = self.with_retry(|| self.entry_rows(conversation, end, limit)).await?;
            let entries = rows.iter().rev().map(|row| {
                let text = row.try_get(0).map_err(|error| self.store_error(error))?;
                codec::decode_entry(conversation, text)
            });
            entries.collect()
        })
    }

    fn list(&self, limit: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        Box::pin(self.with_retry(move || self.summaries(ListFilter::All, limit)))
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>> {
        Box::pin(self.with_retry(move || self.summaries(ListFilter::OwnedBy(owner), limit)))
    }

    fn list_older_than(
        &self,
        time: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        Box::pin(self.with_retry(move || self.summaries(ListFilter::OlderThan(time), limit)))
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let delete = self.with_retry(|| self.delete_conversation(lease, None));
            let deleted = self.load.measure(delete).await?;
            deleted.ok_or_else(|| StoreError::leased_elsewhere(&lease.conversation))
        })
    }

    fn delete_expired<'a>(&'a self, lease: &'a Lease, time: u64) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let delete = self.with_retry(|| self.delete_conversation(lease, Some(time)));
            let deleted = self.load.measure(delete).await?;
            deleted.ok_or_else(|| StoreError::leased_elsewhere(&lease.conversation))
        })
    }

    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>> {
        Box::pin(async move {
            let new_key = random_hex(32)?;
            let keys = self.with_retry(|| self.load_or_insert_keys(&new_key)).await?;
            Ok(keys.into_iter().map(Secret::new).collect())
        })
    }

    fn rotate_signing_key(&self, keep: usize) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let new_key = random_hex(32)?;
            let rotate = self.with_retry(|| self.rotate_keys(&new_key, keep));
            self.load.measure(rotate).await
        })
    }

    fn check_writable(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let probe = self.with_retry(|| self.probe());
            self.load.check(|| self.database.label.clone(), probe).await
        })
    }

    fn shared_state(&self) -> Arc<dyn SharedState> {
        Arc::clone(&self.shared_state) as Arc<dyn SharedState>
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.database.label).finish()
    }
}
