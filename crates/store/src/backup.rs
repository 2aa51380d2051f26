//! Copies a store into a file, and such a file into an empty store.

use std::path::Path;

use toolwright_chat::StoreError;

use crate::SqliteStore;
use crate::open::{check_exists, open_kind};
use crate::rows::{RowSource, Rows, open_rows, rows_of};

/// How far terms rise when a backup is restored: the leases that were acquired after the backup had higher terms, and the numbers
/// of events, which begin with the term, must not be used again.
const TERM_GAP: i64 = 1 << 16;

/// Copies the store that a URL names into a new file, which is itself a SQLite store without leases, for its owner only.
///
/// The copy is of one moment, without what expires: leases, sessions, counters. Others may use the store meanwhile.
///
/// # Errors
///
/// When the store cannot be opened or read, or is in memory; when the file exists already or cannot be written.
///
/// # Examples
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let directory = tempfile::tempdir().unwrap();
/// # let url = |name| format!("sqlite:{}", directory.path().join(name).display());
/// # let (store, other_store) = (url("a.db"), url("b.db"));
/// # let file = directory.path().join("backup.db");
/// # toolwright::store::open(&store).await?;
/// toolwright::store::backup(&store, &file).await?;
/// toolwright::store::restore(&file, &other_store).await?;
/// # Ok::<(), toolwright::chat::StoreError>(()) }).unwrap();
/// ```
pub async fn backup(url: &str, file: impl AsRef<Path>) -> Result<(), StoreError> {
    open_rows(url).await?.copy_into(file.as_ref()).await
}

/// Copies the rows of a store into a new SQLite file.
pub(crate) async fn copy_rows_into<S: RowSource + ?Sized>(
    from: &S,
    file: &Path,
) -> Result<(), StoreError> {
    let mut from = from.snapshot().await?;
    SqliteStore::write_new(file, async |copy| {
        let mut to = copy.begin_restore().await?;
        copy_rows(&mut *from, &mut *to, 0).await?;
        to.commit().await
    })
    .await
}

/// Copies a file that [`backup`] wrote into the store that a URL names, which must have no conversations.
///
/// The keys of the store are replaced: no other program may use it meanwhile.
///
/// # Errors
///
/// When the file or the store cannot be opened, or the store has conversations or is in memory. Then nothing was changed.
pub async fn restore(file: impl AsRef<Path>, url: &str) -> Result<(), StoreError> {
    let file = file.as_ref();
    check_exists(&format!("sqlite:{}", file.display()))?;
    let backup = SqliteStore::open(file).await?;
    let mut from = backup.snapshot().await?;
    let store = rows_of(open_kind(url).await?)?;
    let mut to = store.begin_restore().await?;
    if !to.read_header().await?.conversations.is_empty() {
        return Err(StoreError::new(
            "a backup is restored into an empty store only, and this one has conversations: name another",
        ));
    }
    copy_rows(&mut *from, &mut *to, TERM_GAP).await?;
    to.commit().await
}

/// Copies all rows; every term rises by `term_gap`.
async fn copy_rows(
    from: &mut dyn Rows,
    to: &mut dyn Rows,
    term_gap: i64,
) -> Result<(), StoreError> {
    let mut header = from.read_header().await?;
    header.removed_term += term_gap;
    to.write_header(&header).await?;
    for number in header.conversations {
        let mut row = from.read_conversation(number).await?;
        row.term += term_gap;
        to.write_conversation(&row).await?;
    }
    Ok(())
}
