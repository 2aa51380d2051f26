//! The tables, and how a database comes to have them.

use sqlx::postgres::PgConnection;
use sqlx::{PgPool, Row as _};
use toolwright_chat::StoreError;

use super::PostgresStore;
use crate::migrations;

/// Nodes that start at the same time go one after the other: a number that nobody else locks.
const LOCK: i64 = 0x746f_6f6c_7772_6967;

/// What was done to the tables so far; a step that was released is never changed.
const STEPS: &[&str] = &["
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

/// Brings a database up to date, whoever else does the same just now.
pub(super) async fn prepare(store: &PostgresStore) -> Result<(), StoreError> {
    bring(&store.pool, &store.place, STEPS)
        .await
        .map_err(|refusal| match refusal {
            Refusal::Driver(error) => store.trouble(error),
            Refusal::Said(error) => error,
        })
}

/// Why a database cannot be used.
enum Refusal {
    Driver(sqlx::Error),
    Said(StoreError),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

/// Takes the steps that are left, all of them or none.
async fn bring(pool: &PgPool, place: &str, steps: &'static [&'static str]) -> Result<(), Refusal> {
    let mut work = pool.begin().await?;
    let encoding: String = one(&mut work, "SHOW server_encoding").await?;
    if encoding != "UTF8" {
        return Err(Refusal::Said(StoreError::new(format!(
            "{place} keeps text as {encoding}, which has not all letters: make one with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`"
        ))));
    }
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *work)
        .await?;
    // Whoever may only use the tables need not be allowed to make some.
    let versioned = "SELECT to_regclass('toolwright_version') IS NOT NULL";
    if !one::<bool>(&mut work, versioned).await? {
        sqlx::raw_sql(
            "CREATE TABLE toolwright_version (version bigint NOT NULL);
             INSERT INTO toolwright_version VALUES (0)",
        )
        .execute(&mut *work)
        .await?;
    }
    let found: i64 = one(&mut work, "SELECT max(version) FROM toolwright_version").await?;
    for (version, step) in migrations::left(place, found, steps).map_err(Refusal::Said)? {
        sqlx::raw_sql(step).execute(&mut *work).await?;
        sqlx::query("UPDATE toolwright_version SET version = $1")
            .bind(version)
            .execute(&mut *work)
            .await?;
    }
    work.commit().await?;
    Ok(())
}

async fn one<T>(connection: &mut PgConnection, query: &'static str) -> Result<T, sqlx::Error>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    let row = sqlx::query(query).fetch_one(connection).await?;
    row.try_get(0)
}
