//! Journals in one SQLite file.
//!
//! Writers of this process wait for one connection and are served in order; readers have others. Other processes may use the
//! same file: their leases are in it, too, and those of one that is gone are free.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool, SqliteSynchronous};
use sqlx::{Connection as _, Row as _, Sqlite};
use toolwright_chat::{Entry, Lease, Owner, Store, StoreError, Summary};
use toolwright_core::Secret;

use crate::codec;
use crate::load::Load;

mod error;
mod file;
mod journal;
mod lease;
mod process_lock;
mod schema;
#[cfg(test)]
mod tests;

use process_lock::Alive;

/// How long another process that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for a connection of this process. What was accepted has to be written however long the queue is;
/// [`Load`] keeps it short, not this timeout.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// How many may read at the same time.
const READERS: u32 = 4;

/// Keeps journals in one SQLite file, which several processes of one machine may use.
///
/// # Examples
///
/// ```
/// use toolwright_memory::SqliteStore;
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
    alive: Alive,
    lease_watch: lease::LeaseWatch,
    load: Load,
}

impl SqliteStore {
    /// Opens a file; one that is not there yet is made, for its owner's eyes only.
    ///
    /// # Errors
    ///
    /// When the file cannot be made, read or written, is something else, or was written by a newer version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_as(path.as_ref(), |options| options).await
    }

    /// Opens a file with other options, as a test needs them.
    async fn open_as(
        path: &Path,
        change: impl FnOnce(SqliteConnectOptions) -> SqliteConnectOptions,
    ) -> Result<Self, StoreError> {
        file::make(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(false)
            .busy_timeout(PATIENCE)
            // An entry is on the disk when it is told, not only in the system's hands.
            .synchronous(SqliteSynchronous::Full)
            // What is forgotten is overwritten.
            .pragma("secure_delete", "on");
        let options = change(options);
        schema::prepare(path, &options).await?;
        let readers = options.clone().pragma("query_only", "on");
        Ok(Self {
            path: path.to_owned(),
            writer: pool(1).connect_lazy_with(options),
            readers: pool(READERS).connect_lazy_with(readers),
            alive: Alive::begin(path)?,
            lease_watch: lease::LeaseWatch::default(),
            load: Load::default(),
        })
    }

    fn trouble(&self, error: sqlx::Error) -> StoreError {
        error::of(&self.path, error)
    }
}

fn pool(most: u32) -> PoolOptions<Sqlite> {
    PoolOptions::new()
        .max_connections(most)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .after_release(|connection: &mut SqliteConnection, _| {
            Box::pin(async move {
                // Rolling back waits in line before this.
                connection.ping().await?;
                // SQLite rolls back by itself when the disk is full, and then the driver still believes in the transaction.
                Ok(!connection.is_in_transaction())
            })
        })
}

impl Store for SqliteStore {
    fn lease<'a>(
        &'a self,
        lease: &'a Lease,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let taken = self.load.run(self.take(lease, life)).await;
            taken.map_err(|error| self.trouble(error))
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let back = self.load.run(self.give_back(lease)).await;
            back.map_err(|error| self.trouble(error))
        })
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let texts = codec::write(entries)?;
            match self.load.run(self.add(lease, entries, &texts)).await {
                Ok(true) => {
                    self.load.wrote();
                    Ok(())
                }
                Ok(false) => Err(StoreError::taken(lease)),
                Err(error) => Err(self.trouble(error)),
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
            let rows = self.texts(conversation, before, most).await;
            let rows = rows.map_err(|error| self.trouble(error))?;
            let entries = rows.iter().rev().map(|row| {
                let text = row.try_get(0).map_err(|error| self.trouble(error))?;
                codec::read(conversation, text)
            });
            entries.collect()
        })
    }

    fn list(&self, most: usize) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move {
            let summaries = self.summaries(None, most).await;
            summaries.map_err(|error| self.trouble(error))
        })
    }

    fn list_of<'a>(
        &'a self,
        owner: &'a Owner,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move {
            let summaries = self.summaries(Some(owner), most).await;
            summaries.map_err(|error| self.trouble(error))
        })
    }

    fn forget<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let forgotten = self.load.run(self.drop_all(lease)).await;
            let forgotten = forgotten.map_err(|error| self.trouble(error))?;
            forgotten.ok_or_else(|| StoreError::taken(lease))
        })
    }

    fn key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        Box::pin(async move {
            let key = self.kept_key(&codec::key()?).await;
            key.map(Secret::new).map_err(|error| self.trouble(error))
        })
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let probe = async { self.probe().await.map_err(|error| self.trouble(error)) };
            let place = || format!("`{}`", self.path.display());
            self.load.check(place, probe).await
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStore").field(&self.path).finish()
    }
}
