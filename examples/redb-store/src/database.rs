//! The tables, and the transactions in which every operation runs.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{Database, DatabaseError, ReadableDatabase as _, TableDefinition};
use tokio::task::spawn_blocking;
use toolwright::chat::{StoreError, StoreFuture};

use crate::RedbStore;
use crate::leases::Leases;
use crate::reading::Reading;
use crate::writing::Writing;

type Table<K, V> = TableDefinition<'static, K, V>;

/// By name: a [`Record`](crate::writing::Record), as JSON.
pub(crate) const CONVERSATIONS: Table<&str, &str> = Table::new("conversations");
/// By conversation and number: an entry, as its JSON text.
pub(crate) const ENTRIES: Table<(&str, u64), &str> = Table::new("entries");
/// By conversation and id: the number of an entry.
pub(crate) const IDS: Table<(&str, &str), u64> = Table::new("ids");
/// By name, as JSON: the signing keys, and the highest term of a conversation that was removed.
pub(crate) const META: Table<&str, &str> = Table::new("meta");
/// By space and key: when a value expires, in milliseconds since 1970, and the value.
pub(crate) const SHARED: Table<(&str, &str), (Option<u64>, &str)> = Table::new("shared");

/// The result of work in a transaction: any error ends it without a commit. A [`StoreError`] is returned as it is.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// What a store and its shared state have in common.
pub(crate) struct Inner {
    database: Database,
    /// Locked before a transaction that writes begins, and until it has ended.
    leases: Mutex<Leases>,
    /// Names the database in errors.
    label: String,
}

impl Inner {
    /// Prepares a database that was opened.
    pub(crate) fn prepare(
        label: String,
        opened: Result<Database, DatabaseError>,
    ) -> Result<RedbStore, StoreError> {
        let database = opened.map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => StoreError::new(format!(
                "`{label}` is open in another process, and one at a time can use it: end that, or name another file"
            )),
            error => store_error(&label, error.into()),
        })?;
        let inner = Self { database, leases: Mutex::default(), label };
        // The first transaction makes the tables, so that reads find them.
        inner.run_write(|it| it.create_tables()).map_err(|it| store_error(&inner.label, it))?;
        Ok(RedbStore(Arc::new(inner)))
    }

    pub(crate) fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work in a transaction that reads.
    pub(crate) fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Reading<'_>) -> Outcome<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.blocking(move |inner| work(&Reading { inner, rows: inner.database.begin_read()? }))
    }

    /// Runs work in the transaction that writes, which is committed if the work has changed something.
    pub(crate) fn write<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Writing<'_>) -> Outcome<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.blocking(move |inner| inner.run_write(work))
    }

    fn run_write<T>(&self, work: impl FnOnce(&mut Writing<'_>) -> Outcome<T>) -> Outcome<T> {
        let leases = &mut *self.leases();
        // Durable by default: a commit returns when it is on the disk.
        let transaction = self.database.begin_write()?;
        let mut writing = Writing { rows: &transaction, leases, is_changed: false };
        let result = work(&mut writing)?;
        match writing.is_changed {
            true => transaction.commit()?,
            false => transaction.abort()?,
        }
        Ok(result)
    }

    /// Runs work on a thread that may block; it ends even if the future is dropped.
    fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Outcome<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let inner = Arc::clone(self);
        Box::pin(async move {
            let label = inner.label.clone();
            let result = spawn_blocking(move || work(&inner)).await.map_err(Into::into).flatten();
            result.map_err(|error| store_error(&label, error))
        })
    }
}

fn store_error(label: &str, error: Box<dyn Error + Send + Sync>) -> StoreError {
    match error.downcast() {
        Ok(error) => *error,
        Err(error) => {
            StoreError::new(format!("`{label}` cannot be read or written")).with_source(error)
        }
    }
}
