//! The tables of a SQLite file, and the migrations that create them.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, query_scalar};
use tokio::time::{Duration, Instant, sleep};
use toolwright_chat::StoreError;

use super::error;
use crate::migrations::{PrepareError, newest_version, pending_migrations};

/// `Tool`, SQLite's `application_id`: marks a file as one of Toolwright.
const APPLICATION_ID: i32 = 0x546f_6f6c;

/// The migrations, in order. A step that was released is never changed.
pub(super) const MIGRATIONS: &[&str] = &[FIRST_STEP];

/// Until 0.1 is published, it is edited in place, and every edit raises [`FIRST_VERSION`](crate::migrations::FIRST_VERSION).
const FIRST_STEP: &str = "
    CREATE TABLE meta (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        -- The oldest version of the tables whose programs may use these.
        oldest_reader INTEGER NOT NULL,
        -- The highest term of a row of `conversations` that was removed. New rows start with it, so that no conversation has a
        -- term twice.
        removed_term INTEGER NOT NULL
    ) STRICT;
    INSERT INTO meta VALUES (1, 6, 0);

    -- The keys that sign approvals. The one with the highest number signs, the others verify.
    CREATE TABLE keys (
        number INTEGER PRIMARY KEY,
        key TEXT NOT NULL
    ) STRICT;

    -- A row for each conversation that has a lease, an inbox or entries.
    CREATE TABLE conversations (
        number INTEGER PRIMARY KEY,
        -- Begins with the owner.
        name TEXT NOT NULL UNIQUE,

        -- The lease: all four are null while it is free.
        holder TEXT,
        -- The process of the holder.
        process TEXT,
        -- Every renewal changes it; people read it as milliseconds since 1970.
        until INTEGER,
        -- How long it lasts when it is not renewed, in milliseconds.
        duration INTEGER,
        -- The number of its last acquisition.
        term INTEGER NOT NULL DEFAULT 0,

        -- The number of entries, the title, and the times of the first and the last entry, in milliseconds since 1970.
        entries INTEGER NOT NULL DEFAULT 0,
        title TEXT NOT NULL DEFAULT '',
        began INTEGER NOT NULL DEFAULT 0,
        last INTEGER NOT NULL DEFAULT 0,
        -- The last turn: 0 is over, 1 runs, 2 is paused.
        turn INTEGER NOT NULL DEFAULT 0,
        -- The position of the newest item that the inbox has or had.
        last_position INTEGER NOT NULL DEFAULT 0,

        CHECK ((holder IS NULL) = (process IS NULL)),
        CHECK ((holder IS NULL) = (until IS NULL)),
        CHECK ((holder IS NULL) = (duration IS NULL))
    ) STRICT;
    CREATE INDEX latest ON conversations (last DESC, name) WHERE entries > 0;
    CREATE INDEX running ON conversations (number) WHERE turn = 1;

    -- The journals: the entries of a conversation by `seq`, each as its JSON text.
    CREATE TABLE entries (
        seq INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL,
        id TEXT NOT NULL,
        entry TEXT NOT NULL,
        UNIQUE (conversation, id)
    ) STRICT;
    -- Ends in `seq`, as every index does.
    CREATE INDEX in_order ON entries (conversation);

    -- What was accepted and is not in the journal yet.
    CREATE TABLE inbox (
        conversation INTEGER NOT NULL,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        principal TEXT,
        peer TEXT,
        -- Milliseconds since 1970.
        at INTEGER NOT NULL,
        -- 1 if it may be taken while the turn is paused.
        resumes INTEGER NOT NULL,
        PRIMARY KEY (conversation, position),
        UNIQUE (conversation, id)
    ) STRICT, WITHOUT ROWID;

    -- Values and counters that the processes share.
    CREATE TABLE shared (
        space TEXT NOT NULL,
        key TEXT NOT NULL,
        -- That of a counter begins with its sum.
        value TEXT NOT NULL,
        -- Milliseconds since 1970; null for what never expires.
        expires INTEGER,
        PRIMARY KEY (space, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX expiring ON shared (expires) WHERE expires IS NOT NULL;
";

/// Migrates a file to the version of these steps; other processes may do the same at the same time.
pub(super) async fn prepare_schema(
    path: &Path,
    options: &SqliteConnectOptions,
    steps: &'static [&'static str],
) -> Result<(), StoreError> {
    let started = Instant::now();
    loop {
        match migrate(path, options, steps).await {
            Ok(()) => return Ok(()),
            Err(PrepareError::Rejected(error)) => return Err(error),
            // SQLite's busy timeout does not cover every operation, such as the switch to write-ahead logging.
            Err(PrepareError::Driver(error))
                if error::is_busy(&error) && started.elapsed() < super::BUSY_TIMEOUT =>
            {
                sleep(Duration::from_millis(20)).await;
            }
            Err(PrepareError::Driver(error)) => return Err(error::store_error(path, error)),
        }
    }
}

/// Migrates a file, and switches it to write-ahead logging.
pub(super) async fn migrate(
    path: &Path,
    options: &SqliteConnectOptions,
    steps: &'static [&'static str],
) -> Result<(), PrepareError> {
    let mut connection = options.connect().await?;
    apply_pending(path, &mut connection, steps).await?;
    // Reads and a write can then run at the same time; the file keeps the mode. Where it is unavailable, they wait for each
    // other.
    sqlx::query("PRAGMA journal_mode = wal").fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(())
}

/// Applies the pending steps in one transaction.
async fn apply_pending(
    path: &Path,
    connection: &mut SqliteConnection,
    steps: &'static [&'static str],
) -> Result<(), PrepareError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let application: i32 =
        query_scalar("PRAGMA application_id").fetch_one(&mut *transaction).await?;
    let current: i64 = query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await?;
    let tables: i64 =
        query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *transaction).await?;
    let shown = path.display();
    if application != APPLICATION_ID && (application, current, tables) != (0, 0, 0) {
        return Err(PrepareError::Rejected(StoreError::new(format!(
            "`{shown}` is the database of another program: name another file"
        ))));
    }
    let oldest_reader: Option<i64> = match current > newest_version(steps) {
        true => {
            query_scalar("SELECT oldest_reader FROM meta").fetch_optional(&mut *transaction).await?
        }
        false => None,
    };
    let pending = pending_migrations(&format!("`{shown}`"), current, oldest_reader, steps)
        .map_err(PrepareError::Rejected)?;
    let mut reached = None;
    for (version, step) in pending {
        sqlx::raw_sql(step).execute(&mut *transaction).await?;
        reached = Some(version);
    }
    if let Some(version) = reached {
        let pragmas =
            format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}");
        sqlx::raw_sql(AssertSqlSafe(pragmas)).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(())
}
