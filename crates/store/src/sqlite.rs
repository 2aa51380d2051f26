//! Journals in one SQLite file.
//!
//! All writes of this process queue for one connection and are served in order; reads use a separate pool. Other processes
//! may use the same file: their leases are stored in it, too, and the leases of a process that is gone are free.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool, SqliteSynchronous};
use sqlx::{Connection as _, Row as _, Sqlite};
use toolwright_chat::{
    Append, ConversationSummary, Entry, InboxItem, Lease, LeaseStatus, Owner, Store, StoreError,
    StoreFuture, StoreScope, TailEnd, random_hex,
};
use toolwright_core::{Secret, SharedState};

use crate::codec::{self, InboxRow, ListFilter, from_sql};
use crate::sweep_schedule::SweepSchedule;
use crate::write_load::WriteLoad;

mod copy;
mod error;
mod file;
mod inbox;
mod journal;
mod lease;
mod process_lock;
mod rows;
mod schema;
mod shared_state;
#[cfg(test)]
mod tests;
mod writer;

use process_lock::ProcessLock;
use shared_state::SqliteSharedState;
use writer::Writer;

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
/// use toolwright::store::SqliteStore;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let directory = tempfile::tempdir().unwrap();
/// # let file = directory.path().join("conversations.db");
/// let store = SqliteStore::open(&file).await?;
/// # Ok::<(), toolwright::chat::StoreError>(()) }).unwrap();
/// ```
pub struct SqliteStore {
    path: PathBuf,
    writer: Writer,
    readers: SqlitePool,
    process_lock: ProcessLock,
    lease_watch: lease::LeaseWatch,
    load: Arc<WriteLoad>,
    shared_state: Arc<SqliteSharedState>,
}

impl SqliteStore {
    /// Opens a file. Creates it if it does not exist, readable and writable by its owner only.
    ///
    /// # Errors
    ///
    /// When the file cannot be created, read or written, is not a database of Toolwright, or has tables of a newer version or a
    /// development version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path.as_ref(), schema::MIGRATIONS, |options| options).await
    }

    /// Opens a file as a version that knows these migrations, with other connection options. Tests use them to run versions side
    /// by side, and to limit the size of the file.
    async fn open_with(
        path: &Path,
        steps: &'static [&'static str],
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
        schema::prepare_schema(path, &options, steps).await?;
        let readers = options.clone().pragma("query_only", "on");
        let readers = pool(MAX_READERS).connect_lazy_with(readers);
        let (writer, load) = (Writer::new(options), Arc::new(WriteLoad::default()));
        let shared_state = SqliteSharedState {
            path: path.to_owned(),
            writer: writer.clone(),
            readers: readers.clone(),
            load: Arc::clone(&load),
            sweeps: SweepSchedule::default(),
        };
        Ok(Self {
            path: path.to_owned(),
            writer,
            readers,
            process_lock: ProcessLock::acquire(path)?,
            lease_watch: lease::LeaseWatch::default(),
            load,
            shared_state: Arc::new(shared_state),
        })
    }

    /// Waits for the connection that writes, as [`Writer::connection`] does.
    async fn writer(&self, durable: bool) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        self.writer.connection(durable).await
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
    fn scope(&self) -> StoreScope {
        StoreScope::Machine
    }

    fn acquire<'a>(
        &'a self,
        conversation: &'a str,
        holder: &'a str,
        duration: Duration,
    ) -> StoreFuture<'a, Option<Lease>> {
        Box::pin(async move {
            let acquire = self.run(self.acquire_lease(conversation, holder, duration));
            let term = self.load.measure(acquire).await?;
            Ok(term.map(|term| Lease::new(conversation, holder, from_sql(term))))
        })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool> {
        Box::pin(self.load.measure(self.run(self.renew_lease(lease, duration))))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        Box::pin(self.load.measure(self.run(self.release_lease(lease))))
    }

    fn lease_status<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, LeaseStatus> {
        Box::pin(self.run(self.read_lease_status(conversation)))
    }

    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let texts = codec::encode_entries(append.entries)?;
            let append = self.run(self.append_entries(lease, append, &texts));
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
            self.load.push(self.run(self.push_item(conversation, item, row, limit))).await
        })
    }

    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>> {
        Box::pin(async move {
            let rows = self.run(self.inbox_rows(conversation)).await?;
            rows.into_iter().map(|row| row.decode(conversation)).collect()
        })
    }

    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.load.measure(self.run(self.remove_item(conversation, position))))
    }

    fn list_unattended(&self, limit: usize) -> StoreFuture<'_, Vec<String>> {
        Box::pin(self.run(self.unattended(limit)))
    }

    fn list_held_by<'a>(&'a self, holder: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        Box::pin(self.run(self.held_by(holder, limit)))
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        end: TailEnd<'a>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Entry>> {
        Box::pin(async move {
            let rows = self.run(self.entry_rows(conversation, end, limit)).await?;
            let entries = rows.iter().rev().map(|row| {
                let text = row.try_get(0).map_err(|error| self.store_error(error))?;
                codec::decode_entry(conversation, text)
            });
            entries.collect()
        })
    }

    fn list(&self, limit: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        Box::pin(self.run(self.summaries(ListFilter::All, limit)))
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>> {
        Box::pin(self.run(self.summaries(ListFilter::OwnedBy(owner), limit)))
    }

    fn list_older_than(
        &self,
        time: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        Box::pin(self.run(self.summaries(ListFilter::OlderThan(time), limit)))
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let delete = self.run(self.delete_conversation(lease, None));
            let deleted = self.load.measure(delete).await?;
            deleted.ok_or_else(|| StoreError::leased_elsewhere(&lease.conversation))
        })
    }

    fn delete_expired<'a>(&'a self, lease: &'a Lease, time: u64) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let delete = self.run(self.delete_conversation(lease, Some(time)));
            let deleted = self.load.measure(delete).await?;
            deleted.ok_or_else(|| StoreError::leased_elsewhere(&lease.conversation))
        })
    }

    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>> {
        Box::pin(async move {
            let new_key = random_hex(32)?;
            let keys = self.run(self.load_or_insert_keys(&new_key)).await?;
            Ok(keys.into_iter().map(Secret::new).collect())
        })
    }

    fn rotate_signing_key(&self, keep: usize) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let new_key = random_hex(32)?;
            self.load.measure(self.run(self.rotate_keys(&new_key, keep))).await
        })
    }

    fn check_writable(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let label = || format!("`{}`", self.path.display());
            self.load.check(label, self.run(self.probe())).await
        })
    }

    fn shared_state(&self) -> Arc<dyn SharedState> {
        Arc::clone(&self.shared_state) as Arc<dyn SharedState>
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStore").field(&self.path).finish()
    }
}
