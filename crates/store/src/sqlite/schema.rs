//! The tables of a SQLite file, and the migrations that create them.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, query_as, query_scalar};
use tokio::time::{Duration, Instant, sleep};
use toolwright_chat::StoreError;

use super::error;
use crate::codec::{to_sql, turn_to_sql};
use crate::migrations::{
    PrepareError, TURN_VERSION, is_turn_end, last_turn_status, pending_migrations,
};

/// `Tool`, SQLite's `application_id`: marks a file as one of Toolwright.
const APPLICATION_ID: i32 = 0x546f_6f6c;

/// The migrations, in order; a step that was released is never changed.
pub(super) const MIGRATIONS: &[&str] = &[
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
    "
    -- The number of the last acquisition of the lease.
    ALTER TABLE conversations ADD COLUMN term INTEGER NOT NULL DEFAULT 0;
    -- The last turn: 0 is over, 1 runs, 2 is paused.
    ALTER TABLE conversations ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
    -- The position of the newest item that the inbox has or had.
    ALTER TABLE conversations ADD COLUMN last_position INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX running ON conversations (number) WHERE turn = 1;

    CREATE TABLE inbox (
        conversation INTEGER NOT NULL,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        principal TEXT,
        peer TEXT,
        at INTEGER NOT NULL,
        resumes INTEGER NOT NULL,
        PRIMARY KEY (conversation, position),
        UNIQUE (conversation, id)
    ) STRICT, WITHOUT ROWID;

    -- The one with the highest number signs.
    CREATE TABLE keys (
        number INTEGER PRIMARY KEY,
        key TEXT NOT NULL
    ) STRICT;
    INSERT INTO keys (key) SELECT key FROM key;
    DROP TABLE key;

    CREATE TABLE meta (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        -- The oldest version of the tables whose programs may use these.
        oldest_reader INTEGER NOT NULL,
        -- The highest term of a row of `conversations` that was removed. New rows start with it, so that no conversation has a
        -- term twice.
        removed_term INTEGER NOT NULL
    ) STRICT;
    INSERT INTO meta VALUES (1, 3, 0);
",
    "
    -- Values and counters that the processes share. Programs of version 3 do not know the table, and may use the others.
    CREATE TABLE shared (
        space TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        -- The sum of a counter.
        total INTEGER NOT NULL,
        -- Milliseconds since 1970; null for what never expires.
        expires INTEGER,
        PRIMARY KEY (space, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX expiring ON shared (expires) WHERE expires IS NOT NULL;
",
];

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
    let oldest_reader: Option<i64> = match current > to_sql(steps.len()) {
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
        if version == TURN_VERSION {
            compute_turns(&mut transaction).await?;
        }
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

/// Sets the status of each conversation's last turn.
async fn compute_turns(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let last_entries: Vec<(i64, String)> = query_as(
        "SELECT conversation, entry FROM entries
         WHERE seq IN (SELECT max(seq) FROM entries GROUP BY conversation)",
    )
    .fetch_all(&mut *connection)
    .await?;
    for (number, _) in last_entries.iter().filter(|(_, entry)| !is_turn_end(entry)) {
        let texts: Vec<String> =
            query_scalar("SELECT entry FROM entries WHERE conversation = ? ORDER BY seq")
                .bind(number)
                .fetch_all(&mut *connection)
                .await?;
        sqlx::query("UPDATE conversations SET turn = ? WHERE number = ?")
            .bind(turn_to_sql(last_turn_status(&texts)))
            .bind(number)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
