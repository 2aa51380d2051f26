//! The rows of a store, which backups copy and [`verify`](crate::verify()) checks.

#[cfg(feature = "sqlite")]
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright_chat::StoreError;

use crate::codec::InboxRow;
use crate::open::{OpenStore, open_kind};

/// The result of an operation on rows.
pub(crate) type RowsFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// A store whose rows can be read: a backup is made of them, and they are checked.
pub(crate) trait RowSource: Send + Sync + 'static {
    /// Begins a transaction that reads, and sees the same moment in all of its statements.
    fn snapshot(&self) -> RowsFuture<'_, Box<dyn Rows>>;

    /// Begins a transaction that writes; durable only in a store that has just been opened.
    fn begin_restore(&self) -> RowsFuture<'_, Box<dyn Rows>>;

    /// Copies everything into a new SQLite file that appears under its name when it is complete.
    #[cfg(feature = "sqlite")]
    fn copy_into<'a>(&'a self, file: &'a Path) -> RowsFuture<'a, ()> {
        Box::pin(crate::backup::copy_rows_into(self, file))
    }
}

/// One transaction of a database.
pub(crate) trait Rows: Send {
    /// Reads all that belongs to no conversation, and the numbers of the conversations.
    fn read_header(&mut self) -> RowsFuture<'_, Header>;

    /// Reads a conversation by its number.
    fn read_conversation(&mut self, number: i64) -> RowsFuture<'_, ConversationRow>;

    /// Replaces the keys, the term of removed conversations, and the shared values that never expire.
    fn write_header<'a>(&'a mut self, header: &'a Header) -> RowsFuture<'a, ()>;

    /// Adds a conversation that does not exist, without a lease.
    fn write_conversation<'a>(&'a mut self, row: &'a ConversationRow) -> RowsFuture<'a, ()>;

    fn commit(self: Box<Self>) -> RowsFuture<'static, ()>;
}

/// What belongs to no conversation.
pub(crate) struct Header {
    /// The numbers of the conversations, in the order in which they were created.
    pub(crate) conversations: Vec<i64>,
    /// The keys, the oldest first.
    pub(crate) keys: Vec<String>,
    pub(crate) removed_term: i64,
    /// The shared values that never expire, such as pins. Sessions and counters are left out: they concern one moment.
    pub(crate) shared: Vec<SharedRow>,
}

/// A shared value.
pub(crate) struct SharedRow {
    pub(crate) space: String,
    pub(crate) key: String,
    pub(crate) value: String,
}

/// A conversation with its entries and its inbox.
pub(crate) struct ConversationRow {
    pub(crate) name: String,
    pub(crate) term: i64,
    pub(crate) turn: i64,
    pub(crate) last_position: i64,
    pub(crate) title: String,
    /// The number of entries.
    pub(crate) count: i64,
    pub(crate) began: i64,
    pub(crate) last: i64,
    /// The ids and the JSON of the entries, in order.
    pub(crate) entries: Vec<(String, String)>,
    pub(crate) inbox: Vec<InboxRow>,
}

/// Opens a store, and reads it in one transaction: all rows are of the same moment. The store stays open as long.
pub(crate) async fn open_snapshot(
    url: &str,
) -> Result<(Arc<dyn RowSource>, Box<dyn Rows>), StoreError> {
    let store = open_rows(url).await?;
    let rows = store.snapshot().await?;
    Ok((store, rows))
}

/// Opens a store that exists and has rows.
pub(crate) async fn open_rows(url: &str) -> Result<Arc<dyn RowSource>, StoreError> {
    crate::open::check_exists(url)?;
    rows_of(open_kind(url).await?)
}

/// Returns the rows of a store; an error if it has none.
pub(crate) fn rows_of(store: OpenStore) -> Result<Arc<dyn RowSource>, StoreError> {
    store.rows.ok_or_else(|| {
        StoreError::new(
            "a store in memory cannot be read from outside: name `sqlite:` or `postgres:`",
        )
    })
}
