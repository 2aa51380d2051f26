//! The tables, and how a file comes to have them.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};
use tokio::time::{Duration, Instant, sleep};
use toolwright_chat::StoreError;

use super::error;
use crate::migrations;

/// `Tool`: how a file says whose it is.
const APPLICATION: i32 = 0x546f_6f6c;

/// What was done to the tables so far; a step that was released is never changed.
pub(super) const STEPS: &[&str] = &[
    "
    CREATE TABLE conversations (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        holder TEXT,
        process TEXT,
        until INTEGER,
        entries INTEGER NOT NULL DEFAULT 0,
        title TEXT NOT NULL DEFAULT '',
        began INTEGER NOT NULL DEFAULT 0,
        last INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX latest ON conversations (last DESC, name) WHERE entries > 0;

    CREATE TABLE entries (
        seq INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL,
        id TEXT NOT NULL,
        entry TEXT NOT NULL,
        UNIQUE (conversation, id)
    ) STRICT;
    -- Ends in `seq`, as every index does.
    CREATE INDEX in_order ON entries (conversation);

    CREATE TABLE key (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        key TEXT NOT NULL
    ) STRICT;
",
    "
    -- How long a lease lasts when it is not renewed, in milliseconds.
    ALTER TABLE conversations ADD COLUMN life INTEGER;
",
];

/// Why a file cannot be used.
pub(super) enum Refusal {
    Driver(sqlx::Error),
    Said(StoreError),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

/// Brings a file up to date, whoever else does the same just now.
pub(super) async fn prepare(path: &Path, options: &SqliteConnectOptions) -> Result<(), StoreError> {
    let began = Instant::now();
    loop {
        match bring(path, options, STEPS).await {
            Ok(()) => return Ok(()),
            Err(Refusal::Said(error)) => return Err(error),
            // Not all that changes a file as a whole waits for others by itself.
            Err(Refusal::Driver(error))
                if error::is_busy(&error) && began.elapsed() < super::PATIENCE =>
            {
                sleep(Duration::from_millis(20)).await;
            }
            Err(Refusal::Driver(error)) => return Err(error::of(path, error)),
        }
    }
}

pub(super) async fn bring(
    path: &Path,
    options: &SqliteConnectOptions,
    steps: &'static [&'static str],
) -> Result<(), Refusal> {
    let mut connection = options.connect().await?;
    migrate(path, &mut connection, steps).await?;
    // Readers and a writer at the same time; the file remembers it. Where it cannot be had, one waits for the other.
    sqlx::query("PRAGMA journal_mode = wal")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok(())
}

/// Takes the steps that are left, all of them or none.
async fn migrate(
    path: &Path,
    connection: &mut SqliteConnection,
    steps: &'static [&'static str],
) -> Result<(), Refusal> {
    let mut work = connection.begin_with("BEGIN IMMEDIATE").await?;
    let application: i32 = number(&mut work, "PRAGMA application_id").await?;
    let found: i64 = number(&mut work, "PRAGMA user_version").await?;
    let tables: i64 = number(&mut work, "SELECT count(*) FROM sqlite_schema").await?;
    let shown = path.display();
    if application != APPLICATION && (application, found, tables) != (0, 0, 0) {
        return Err(Refusal::Said(StoreError::new(format!(
            "`{shown}` is the database of another program: name another file"
        ))));
    }
    let left = migrations::left(&format!("`{shown}`"), found, steps).map_err(Refusal::Said)?;
    let mut changed = None;
    for (version, step) in left {
        sqlx::raw_sql(step).execute(&mut *work).await?;
        changed = Some(version);
    }
    if let Some(version) = changed {
        let told =
            format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {version}");
        sqlx::raw_sql(AssertSqlSafe(told))
            .execute(&mut *work)
            .await?;
    }
    work.commit().await?;
    Ok(())
}

async fn number<T>(connection: &mut SqliteConnection, query: &'static str) -> Result<T, sqlx::Error>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    let row = sqlx::query(query).fetch_one(connection).await?;
    row.try_get(0)
}
