//! Converts errors of SQLite to errors that state the remedy.

use std::path::Path;

use toolwright_chat::StoreError;

/// SQLite's primary result codes, and what each means for the operator who configured the file.
const ERROR_MESSAGES: &[(i32, &str)] = &[
    (BUSY, "is in use by another program: try again when it is done"),
    (LOCKED, "is in use by another program: try again when it is done"),
    (8, "cannot be written: allow it for the file and its directory"),
    (10, "cannot be read or written: see whether the disk is in order"),
    (DAMAGED, "is damaged: restore a backup, or recover what is left with `sqlite3 FILE .recover`"),
    (13, "does not fit on its disk: make room and try again"),
    (14, "cannot be opened: see that it is there and may be read and written"),
    (NO_DATABASE, "is no database: name another file, or move this one out of the way"),
];

const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const DAMAGED: i32 = 11;
const NO_DATABASE: i32 = 26;

/// Describes what is wrong with a file and what to do about it.
pub(super) fn store_error(path: &Path, error: sqlx::Error) -> StoreError {
    let meaning = match (&error, code(&error)) {
        (_, Some(code)) => ERROR_MESSAGES.iter().find(|(known, _)| *known == code),
        (sqlx::Error::PoolTimedOut, _) => ERROR_MESSAGES.first(),
        _ => None,
    };
    let meaning = meaning.map_or("cannot be used", |(_, meaning)| meaning);
    StoreError::new(format!("`{}` {meaning}", path.display())).with_source(error)
}

/// Returns true if another connection holds a lock on the file.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(BUSY | LOCKED))
}

/// Returns true if the file is damaged or no database.
pub(super) fn is_damaged(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(DAMAGED | NO_DATABASE))
}

/// The primary result code.
fn code(error: &sqlx::Error) -> Option<i32> {
    let extended: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(extended & 0xff)
}
