//! The tables of a PostgreSQL database, and the migrations that create them.

use sqlx::{PgPool, query_scalar};
use toolwright_chat::StoreError;

use super::PostgresStore;
use crate::migrations::{PrepareError, pending_migrations};

/// The advisory lock under which nodes that start at the same time migrate one after the other; no other program uses the
/// number.
const MIGRATION_LOCK: i64 = 0x746f_6f6c_7772_6967;

/// The migrations, in order; a step that was released is never changed.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE toolwright_conversations (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        -- Text cannot contain NUL, and a name may.
        name bytea NOT NULL UNIQUE,
        holder bytea,
        until timestamptz,
        next bigint NOT NULL DEFAULT 0,
        entries bigint NOT NULL DEFAULT 0,
        title bytea NOT NULL DEFAULT '',
        began bigint NOT NULL DEFAULT 0,
        last bigint NOT NULL DEFAULT 0
    );
    CREATE INDEX toolwright_latest ON toolwright_conversations (last DESC, name) WHERE entries > 0;

    CREATE TABLE toolwright_entries (
        conversation bigint NOT NULL,
        seq bigint NOT NULL,
        id bytea NOT NULL,
        entry text NOT NULL,
        PRIMARY KEY (conversation, seq),
        UNIQUE (conversation, id)
    );

    CREATE TABLE toolwright_key (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        key text NOT NULL
    );

    -- One trip, and one transaction by itself: whoever loses the connection has added everything or nothing.
    CREATE FUNCTION toolwright_append(
        conversation_name bytea, lease_holder bytea,
        ids bytea[], times bigint[], texts text[], first_title bytea
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        known toolwright_conversations;
        added bigint;
        first_time bigint;
        last_time bigint;
    BEGIN
        SELECT * INTO known FROM toolwright_conversations
        WHERE name = conversation_name AND holder = lease_holder AND until > clock_timestamp()
        FOR UPDATE;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        WITH new AS (
            INSERT INTO toolwright_entries (conversation, seq, id, entry)
            SELECT known.number, known.next + told.nth, told.id, told.entry
            FROM unnest(ids, texts) WITH ORDINALITY AS told (id, entry, nth)
            ORDER BY told.nth
            ON CONFLICT (conversation, id) DO NOTHING
            RETURNING seq - known.next AS nth
        )
        SELECT count(*), times[min(nth)::int], times[max(nth)::int] INTO added, first_time, last_time FROM new;
        IF added > 0 THEN
            UPDATE toolwright_conversations SET
                next = next + cardinality(ids),
                title = CASE WHEN entries = 0 THEN first_title ELSE title END,
                began = CASE WHEN entries = 0 THEN first_time ELSE began END,
                entries = entries + added,
                last = last_time
            WHERE number = known.number;
        END IF;
        RETURN true;
    END $$;
", "
    -- A lease that ran out and that no other has taken is still its holder's.
    CREATE OR REPLACE FUNCTION toolwright_append(
        conversation_name bytea, lease_holder bytea,
        ids bytea[], times bigint[], texts text[], first_title bytea
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        known toolwright_conversations;
        added bigint;
        first_time bigint;
        last_time bigint;
    BEGIN
        SELECT * INTO known FROM toolwright_conversations
        WHERE name = conversation_name AND holder = lease_holder
        FOR UPDATE;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        WITH new AS (
            INSERT INTO toolwright_entries (conversation, seq, id, entry)
            SELECT known.number, known.next + told.nth, told.id, told.entry
            FROM unnest(ids, texts) WITH ORDINALITY AS told (id, entry, nth)
            ORDER BY told.nth
            ON CONFLICT (conversation, id) DO NOTHING
            RETURNING seq - known.next AS nth
        )
        SELECT count(*), times[min(nth)::int], times[max(nth)::int] INTO added, first_time, last_time FROM new;
        IF added > 0 THEN
            UPDATE toolwright_conversations SET
                next = next + cardinality(ids),
                title = CASE WHEN entries = 0 THEN first_title ELSE title END,
                began = CASE WHEN entries = 0 THEN first_time ELSE began END,
                entries = entries + added,
                last = last_time
            WHERE number = known.number;
        END IF;
        RETURN true;
    END $$;
"];

/// Migrates a database to the current version; other nodes may do the same at the same time.
pub(super) async fn prepare_schema(store: &PostgresStore) -> Result<(), StoreError> {
    migrate(&store.pool, &store.label, MIGRATIONS).await.map_err(|error| match error {
        PrepareError::Driver(error) => store.store_error(error),
        PrepareError::Rejected(error) => error,
    })
}

/// Applies the pending steps in one transaction.
async fn migrate(
    pool: &PgPool,
    label: &str,
    steps: &'static [&'static str],
) -> Result<(), PrepareError> {
    let mut transaction = pool.begin().await?;
    let encoding: String =
        query_scalar("SHOW server_encoding").fetch_one(&mut *transaction).await?;
    if encoding != "UTF8" {
        return Err(PrepareError::Rejected(StoreError::new(format!(
            "{label} has the encoding {encoding}, which cannot store all characters: create another with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`"
        ))));
    }
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut *transaction)
        .await?;
    // A user without the right to create tables can use those that exist.
    let has_version: bool = query_scalar("SELECT to_regclass('toolwright_version') IS NOT NULL")
        .fetch_one(&mut *transaction)
        .await?;
    if !has_version {
        sqlx::raw_sql(
            "CREATE TABLE toolwright_version (version bigint NOT NULL);
             INSERT INTO toolwright_version VALUES (0)",
        )
        .execute(&mut *transaction)
        .await?;
    }
    let current: i64 = query_scalar("SELECT max(version) FROM toolwright_version")
        .fetch_one(&mut *transaction)
        .await?;
    for (version, step) in
        pending_migrations(label, current, steps).map_err(PrepareError::Rejected)?
    {
        sqlx::raw_sql(step).execute(&mut *transaction).await?;
        sqlx::query("UPDATE toolwright_version SET version = $1")
            .bind(version)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}
