//! Journals in one SQLite file.
//!
//! All writes of this process queue for one connection and are served in order; reads use a separate pool. Other processes
//! may use the same file: their leases are stored in it, too, and the leases of a process that is gone are free.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool, SqliteSynchronous};
use sqlx::{Connection as _, Row as _, Sqlite};
use toolwright_chat::{ConversationSummary, Entry, Lease, Owner, Store, StoreError, random_hex};
use toolwright_core::Secret;

use crate::codec;
use crate::write_load::WriteLoad;

mod error;
mod file;
mod journal;
mod lease;
mod process_lock;
mod schema;
#[cfg(test)]
mod tests;

use process_lock::ProcessLock;

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait for a connection of this process. An accepted message has to be written however long the queue is;
/// [`WriteLoad`] keeps the queue short, not this timeout.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The maximum number of concurrent reads.
const MAX_READERS: u32 = 4;

/// Stores journals in one SQLite file, which several processes of one machine may share.
///
/// # Examples
///
/// ```
/// use toolwright_store::SqliteStore;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let directory = tempfile::tempdir().unwrap();
/// # let file = directory.path().join("conversations.db");
/// let store = SqliteStore::open(&file).await?;
/// # Ok::<(), toolwright::chat::StoreError>(()) }).unwrap();
/// ```
pub struct SqliteStore {
    path: PathBuf,
    writer: SqlitePool,
    readers: SqlitePool,
    process_lock: ProcessLock,
    lease_watch: lease::LeaseWatch,
    load: WriteLoad,
}

impl SqliteStore {
    /// Opens a file. Creates it if it does not exist, readable and writable by its owner only.
    ///
    /// # Errors
    ///
    /// When the file cannot be created, read or written, is not a database of Toolwright, or has tables of a newer version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path.as_ref(), |options| options).await
    }

    /// Opens a file with other connection options, which tests use to limit its size.
    async fn open_with(
        path: &Path,
        change: impl FnOnce(SqliteConnectOptions) -> SqliteConnectOptions,
    ) -> Result<Self, StoreError> {
        file::create(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(false)
            .busy_timeout(BUSY_TIMEOUT)
            // An append returns when the entry is on the disk, not only in the page cache.
            .synchronous(SqliteSynchronous::Full)
            // Deleted conversations are overwritten with zeros.
            .pragma("secure_delete", "on");
        let options = change(options);
        schema::prepare_schema(path, &options).await?;
        let readers = options.clone().pragma("query_only", "on");
        Ok(Self {
            path: path.to_owned(),
            writer: pool(1).connect_lazy_with(options),
            readers: pool(MAX_READERS).connect_lazy_with(readers),
            process_lock: ProcessLock::acquire(path)?,
            lease_watch: lease::LeaseWatch::default(),
            load: WriteLoad::default(),
        })
    }

    fn store_error(&self, error: sqlx::Error) -> StoreError {
        error::store_error(&self.path, error)
    }

    /// Runs an operation, and converts its error.
    async fn run<T>(
        &self,
        operation: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, StoreError> {
        operation.await.map_err(|error| self.store_error(error))
    }
}

fn pool(max_connections: u32) -> PoolOptions<Sqlite> {
    PoolOptions::new()
        .max_connections(max_connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .after_release(|connection: &mut SqliteConnection, _| {
            Box::pin(async move {
                // A pending rollback of this connection runs before the ping.
                connection.ping().await?;
                // SQLite itself rolls back when the disk is full; the driver then still counts a transaction as open.
                Ok(!connection.is_in_transaction())
            })
        })
}

impl Store for SqliteStore {
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        duration: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.load.measure(self.run(self.acquire_lease(lease, duration))))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.load.measure(self.run(self.release_lease(lease))))
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let texts = codec::encode_entries(entries)?;
            let append = self.run(self.append_entries(lease, entries, &texts));
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
            let rows = self.run(self.entry_rows(conversation, before, limit)).await?;
            let entries = rows.iter().rev().map(|row| {
                let text = row.try_get(0).map_err(|error| self.store_error(error))?;
                codec::decode_entry(conversation, text)
            });
            entries.collect()
        })
    }

    fn list(&self, limit: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>> {
        Box::pin(self.run(self.summaries(None, limit)))
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>> {
        Box::pin(self.run(self.summaries(Some(owner), limit)))
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let deleted = self.load.measure(self.run(self.delete_conversation(lease))).await?;
            deleted.ok_or_else(|| StoreError::leased_elsewhere(lease))
        })
    }

    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        Box::pin(async move {
            let new_key = random_hex(32)?;
            self.run(self.load_or_insert_key(&new_key)).await.map(Secret::new)
        })
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let label = || format!("`{}`", self.path.display());
            self.load.check(label, self.run(self.probe())).await
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStore").field(&self.path).finish()
    }
}
