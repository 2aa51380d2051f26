//! The tables, and the transactions in which every operation runs.

use std::sync::{Arc, Mutex, PoisonError};

use redb::{Database, DatabaseError, ReadableDatabase as _, TableDefinition};
use tokio::task::spawn_blocking;
use toolwright::chat::{StoreError, StoreFuture};

use crate::RedbStore;
use crate::conversation::Writing;
use crate::leases::Leases;
use crate::reading::Reading;

pub(crate) type Texts = TableDefinition<'static, &'static str, &'static str>;

/// By name: what [`Record`](crate::conversation::Record) says, as JSON.
pub(crate) const CONVERSATIONS: Texts = TableDefinition::new("conversations");
/// By conversation and number: an entry, as its JSON text.
pub(crate) const ENTRIES: TableDefinition<(&str, u64), &str> = TableDefinition::new("entries");
/// By conversation and id: the number of an entry.
pub(crate) const IDS: TableDefinition<(&str, &str), u64> = TableDefinition::new("ids");
/// By conversation and position: whether an item resumes a paused turn, its id, and its JSON.
pub(crate) const INBOX: TableDefinition<(&str, u64), (bool, &str, &str)> =
    TableDefinition::new("inbox");
/// By name: the signing keys, and the highest term of a conversation that was removed.
pub(crate) const META: Texts = TableDefinition::new("meta");
/// By space and key: when a value expires, in milliseconds since 1970, and the value.
pub(crate) const SHARED: TableDefinition<(&str, &str), (Option<u64>, &str)> =
    TableDefinition::new("shared");

/// Why an operation failed.
pub(crate) enum Fault {
    Database(redb::Error),
    Damaged(serde_json::Error),
    Rejected(StoreError),
}

macro_rules! fault_from {
    ($($error:ty => |$it:ident| $fault:expr),+ $(,)?) => {
        $(impl From<$error> for Fault {
            fn from($it: $error) -> Self {
                $fault
            }
        })+
    };
}

fault_from! {
    redb::StorageError => |it| Self::Database(it.into()),
    redb::TableError => |it| Self::Database(it.into()),
    redb::TransactionError => |it| Self::Database(it.into()),
    redb::CommitError => |it| Self::Database(it.into()),
    serde_json::Error => |it| Self::Damaged(it),
    StoreError => |it| Self::Rejected(it),
}

/// What a store and its shared state have in common.
pub(crate) struct Inner {
    database: Database,
    /// Locked before a transaction that writes begins, and until it has ended.
    leases: Mutex<Leases>,
    /// Names the database in errors.
    pub(crate) label: String,
}

impl Inner {
    /// Prepares a database that was opened.
    pub(crate) fn new(
        label: String,
        opened: Result<Database, DatabaseError>,
    ) -> Result<RedbStore, StoreError> {
        let database = match opened {
            Ok(database) => database,
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                return Err(StoreError::new(format!(
                    "`{label}` is open in another process, and one at a time can use it: end that, or name another file"
                )));
            }
            Err(error) => return Err(database_error(&label, error.into())),
        };
        let inner = Self { database, leases: Mutex::default(), label };
        // The first transaction makes the tables, so that reads find them.
        inner.run_write(|writing, _| writing.create_tables()).map_err(|it| inner.error(it))?;
        Ok(RedbStore(Arc::new(inner)))
    }

    /// Runs work in a transaction that reads.
    pub(crate) fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Reading) -> Result<T, Fault> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.blocking(move |inner| work(&Reading(inner.database.begin_read()?)))
    }

    /// Runs work in a transaction that reads, with the leases of the same moment.
    pub(crate) fn with_leases<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Reading, &Leases) -> Result<T, Fault> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.blocking(move |inner| {
            let leases = inner.leases.lock().unwrap_or_else(PoisonError::into_inner);
            work(&Reading(inner.database.begin_read()?), &leases)
        })
    }

    /// Runs work in the transaction that writes, which is committed if the work has changed something.
    pub(crate) fn write<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Writing<'_>, &mut Leases) -> Result<T, Fault> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.blocking(move |inner| inner.run_write(work))
    }

    fn run_write<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, &mut Leases) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        // Durable by default: a commit returns when it is on the disk.
        let transaction = self.database.begin_write()?;
        let mut writing = Writing::new(&transaction);
        let result = work(&mut writing, &mut leases)?;
        match writing.is_changed {
            true => transaction.commit()?,
            false => transaction.abort()?,
        }
        Ok(result)
    }

    /// Runs work on a thread that may block; it ends even if the future is dropped.
    fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let inner = Arc::clone(self);
        Box::pin(async move {
            let working = spawn_blocking(move || work(&inner).map_err(|fault| inner.error(fault)));
            working.await.unwrap_or_else(|error| {
                Err(StoreError::new("an operation of the store has panicked").with_source(error))
            })
        })
    }

    fn error(&self, fault: Fault) -> StoreError {
        match fault {
            Fault::Database(error) => database_error(&self.label, error),
            Fault::Damaged(error) => {
                let message = format!("`{}` has a row that is no valid JSON", self.label);
                StoreError::new(message).with_source(error)
            }
            Fault::Rejected(error) => error,
        }
    }
}

fn database_error(label: &str, error: redb::Error) -> StoreError {
    StoreError::new(format!("`{label}` cannot be read or written")).with_source(error)
}
