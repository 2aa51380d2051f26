//! The tables of a PostgreSQL database, and the migrations that create them.

use sqlx::{PgConnection, query_as, query_scalar};
use toolwright_chat::StoreError;

use super::PostgresStore;
use super::retry::Database;
use crate::codec::{to_sql, turn_to_sql};
use crate::migrations::{
    PrepareError, TURN_VERSION, is_turn_end, last_turn_status, pending_migrations,
};

/// The advisory lock under which nodes that start at the same time migrate one after the other; no other program uses the
/// number.
const MIGRATION_LOCK: i64 = 0x746f_6f6c_7772_6967;

/// The migrations, in order; a step that was released is never changed.
pub(super) const MIGRATIONS: &[&str] = &["
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
", "
    ALTER TABLE toolwright_conversations
        -- The number of the last acquisition of the lease.
        ADD COLUMN term bigint NOT NULL DEFAULT 0,
        -- The last turn: 0 is over, 1 runs, 2 is paused.
        ADD COLUMN turn bigint NOT NULL DEFAULT 0,
        -- The position of the newest item that the inbox has or had.
        ADD COLUMN last_position bigint NOT NULL DEFAULT 0;
    CREATE INDEX toolwright_running ON toolwright_conversations (number) WHERE turn = 1;

    CREATE TABLE toolwright_inbox (
        conversation bigint NOT NULL,
        position bigint NOT NULL,
        id bytea NOT NULL,
        kind text NOT NULL,
        payload text NOT NULL,
        principal text,
        peer bytea,
        at bigint NOT NULL,
        resumes boolean NOT NULL,
        PRIMARY KEY (conversation, position),
        UNIQUE (conversation, id)
    );

    -- The one with the highest number signs.
    CREATE TABLE toolwright_keys (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key text NOT NULL
    );
    INSERT INTO toolwright_keys (key) SELECT key FROM toolwright_key;
    DROP TABLE toolwright_key;

    CREATE TABLE toolwright_meta (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        -- The oldest version of the tables whose programs may use these.
        oldest_reader bigint NOT NULL,
        -- The highest term of a row of `toolwright_conversations` that was removed. New rows start with it, so that no
        -- conversation has a term twice.
        removed_term bigint NOT NULL
    );
    INSERT INTO toolwright_meta (oldest_reader, removed_term) VALUES (3, 0);

    -- Locks the row of a conversation; inserts it if there is none. Every transaction that locks `toolwright_meta` and a
    -- conversation does it in this order, so that none waits for another in a circle.
    CREATE FUNCTION toolwright_lock(conversation_name bytea)
    RETURNS toolwright_conversations LANGUAGE plpgsql AS $$
    DECLARE
        known toolwright_conversations;
        first_term bigint;
    BEGIN
        SELECT * INTO known FROM toolwright_conversations WHERE name = conversation_name FOR UPDATE;
        IF NOT FOUND THEN
            -- While this lock is held no row is removed, so the term is at least that of the last row of this name.
            SELECT removed_term INTO first_term FROM toolwright_meta FOR SHARE;
            INSERT INTO toolwright_conversations (name, term) VALUES (conversation_name, first_term)
            ON CONFLICT (name) DO UPDATE SET name = excluded.name
            RETURNING * INTO known;
        END IF;
        RETURN known;
    END $$;

    -- Returns the term, or null if another holder has the lease.
    CREATE FUNCTION toolwright_acquire(conversation_name bytea, lease_holder bytea, millis bigint)
    RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
        known toolwright_conversations;
    BEGIN
        known := toolwright_lock(conversation_name);
        IF known.holder <> lease_holder AND known.until > clock_timestamp() THEN
            RETURN NULL;
        END IF;
        UPDATE toolwright_conversations SET holder = lease_holder, term = term + 1,
            until = clock_timestamp() + millis * interval '1 millisecond'
        WHERE number = known.number;
        RETURN known.term + 1;
    END $$;

    -- Returns the number of entries, or null if the lease is not held.
    CREATE FUNCTION toolwright_release(conversation_name bytea, lease_holder bytea, lease_term bigint)
    RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
        known_entries bigint;
    BEGIN
        -- A release that is lost in a crash of the database is a lease that expires.
        PERFORM set_config('synchronous_commit', 'off', true);
        UPDATE toolwright_conversations SET holder = NULL, until = NULL
        WHERE name = conversation_name AND holder = lease_holder AND term = lease_term
        RETURNING entries INTO known_entries;
        RETURN known_entries;
    END $$;

    -- Removes the row of a conversation that has nothing but a term.
    CREATE FUNCTION toolwright_remove_if_empty(conversation_name bytea)
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        known toolwright_conversations;
    BEGIN
        PERFORM FROM toolwright_conversations
        WHERE name = conversation_name AND holder IS NULL AND entries = 0;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        PERFORM FROM toolwright_meta FOR UPDATE;
        SELECT * INTO known FROM toolwright_conversations
        WHERE name = conversation_name AND holder IS NULL AND entries = 0
        FOR UPDATE;
        -- Another statement, which sees what was added before the lock was granted.
        IF FOUND AND NOT EXISTS (SELECT FROM toolwright_inbox WHERE conversation = known.number) THEN
            UPDATE toolwright_meta SET removed_term = greatest(removed_term, known.term);
            DELETE FROM toolwright_conversations WHERE number = known.number;
        END IF;
    END $$;

    -- Returns the position, 0 if the item was taken, or null if the inbox is full.
    CREATE FUNCTION toolwright_push(
        conversation_name bytea, item_id bytea, item_kind text, item_payload text, item_principal text,
        item_peer bytea, item_at bigint, resumes_by_turn boolean[], max_items bigint
    ) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
        known toolwright_conversations;
        known_position bigint;
    BEGIN
        known := toolwright_lock(conversation_name);
        PERFORM FROM toolwright_entries WHERE conversation = known.number AND id = item_id;
        IF FOUND THEN
            RETURN 0;
        END IF;
        SELECT position INTO known_position FROM toolwright_inbox
        WHERE conversation = known.number AND id = item_id;
        IF FOUND THEN
            RETURN known_position;
        END IF;
        IF (SELECT count(*) FROM toolwright_inbox WHERE conversation = known.number) >= max_items THEN
            RETURN NULL;
        END IF;
        UPDATE toolwright_conversations SET last_position = last_position + 1
        WHERE number = known.number;
        INSERT INTO toolwright_inbox
        VALUES (
            known.number, known.last_position + 1, item_id, item_kind, item_payload, item_principal,
            item_peer, item_at, resumes_by_turn[known.turn + 1]
        );
        RETURN known.last_position + 1;
    END $$;

    DROP FUNCTION toolwright_append(bytea, bytea, bytea[], bigint[], text[], bytea);
    -- One round trip and one transaction. Returns 0 if it is done, 1 if the lease is not held, 2 if an item was withdrawn.
    CREATE FUNCTION toolwright_append(
        conversation_name bytea, lease_holder bytea, lease_term bigint,
        ids bytea[], times bigint[], texts text[], first_title bytea,
        taken bigint[], turn_status bigint
    ) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
        known toolwright_conversations;
        added bigint;
        first_time bigint;
        last_time bigint;
    BEGIN
        SELECT * INTO known FROM toolwright_conversations
        WHERE name = conversation_name AND holder = lease_holder AND term = lease_term
        FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 1;
        END IF;
        -- What was appended before has taken its items then.
        IF (SELECT count(*) FROM toolwright_inbox
            WHERE conversation = known.number AND position = ANY (taken)) < cardinality(taken)
            AND EXISTS (
                SELECT FROM unnest(ids) AS new WHERE new NOT IN (
                    SELECT id FROM toolwright_entries WHERE conversation = known.number AND id = ANY (ids)
                )
            )
        THEN
            RETURN 2;
        END IF;
        DELETE FROM toolwright_inbox WHERE conversation = known.number AND position = ANY (taken);
        IF cardinality(ids) = 0 THEN
            RETURN 0;
        END IF;
        WITH new AS (
            INSERT INTO toolwright_entries (conversation, seq, id, entry)
            SELECT known.number, known.next + given.nth, given.id, given.entry
            FROM unnest(ids, texts) WITH ORDINALITY AS given (id, entry, nth)
            ORDER BY given.nth
            ON CONFLICT (conversation, id) DO NOTHING
            RETURNING seq - known.next AS nth
        )
        SELECT count(*), times[min(nth)::int], times[max(nth)::int] INTO added, first_time, last_time FROM new;
        UPDATE toolwright_conversations SET
            next = next + cardinality(ids),
            title = CASE WHEN entries = 0 THEN first_title ELSE title END,
            began = CASE WHEN entries = 0 THEN first_time ELSE began END,
            entries = entries + added,
            last = coalesce(last_time, last),
            turn = turn_status
        WHERE number = known.number;
        RETURN 0;
    END $$;
", "
    -- Values and counters that the nodes share. Programs of version 3 do not know the table, and may use the others.
    CREATE TABLE toolwright_shared (
        space text NOT NULL,
        -- Text cannot contain NUL, and a key or a value may.
        key bytea NOT NULL,
        value bytea NOT NULL,
        -- The sum of a counter.
        total bigint NOT NULL,
        -- Null for what never expires.
        expires timestamptz,
        PRIMARY KEY (space, key)
    );
    CREATE INDEX toolwright_expiring ON toolwright_shared (expires) WHERE expires IS NOT NULL;

    -- Adds to a counter, unless the sum would exceed the maximum. A counter restarts if its time has come, or is further away
    -- than the window: then the clock was set back, or the window has become shorter.
    CREATE FUNCTION toolwright_count(
        counter_space text, counter_key bytea, amount bigint, max_total bigint, window_millis bigint,
        OUT is_admitted boolean, OUT new_total bigint, OUT resets_in bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
        length interval := window_millis * interval '1 millisecond';
        restarts timestamptz;
    BEGIN
        -- What is lost in a crash of the database is a few calls that were counted.
        PERFORM set_config('synchronous_commit', 'off', true);
        IF amount > 0 AND amount <= max_total THEN
            INSERT INTO toolwright_shared AS known
            VALUES (counter_space, counter_key, '', amount, clock_timestamp() + length)
            ON CONFLICT (space, key) DO UPDATE SET
                value = '',
                total = amount + CASE
                    WHEN known.expires > clock_timestamp() AND known.expires <= clock_timestamp() + length
                    THEN known.total ELSE 0 END,
                expires = CASE
                    WHEN known.expires > clock_timestamp() AND known.expires <= clock_timestamp() + length
                    THEN known.expires ELSE clock_timestamp() + length END
            WHERE amount <= max_total - known.total
                OR known.expires IS NULL
                OR known.expires <= clock_timestamp()
                OR known.expires > clock_timestamp() + length
            RETURNING total, expires INTO new_total, restarts;
        END IF;
        is_admitted := restarts IS NOT NULL;
        IF restarts IS NULL THEN
            SELECT total, expires INTO new_total, restarts FROM toolwright_shared
            WHERE space = counter_space AND key = counter_key
                AND expires > clock_timestamp() AND expires <= clock_timestamp() + length;
            new_total := coalesce(new_total, 0);
            restarts := coalesce(restarts, clock_timestamp() + length);
            is_admitted := amount = 0 AND new_total <= max_total;
        END IF;
        resets_in := greatest(0, ceil(extract(epoch FROM restarts - clock_timestamp()) * 1000));
    END $$;
"];

/// Migrates a database to the version of these steps; other nodes may do the same at the same time.
pub(super) async fn prepare_schema(
    store: &PostgresStore,
    steps: &'static [&'static str],
) -> Result<(), StoreError> {
    migrate(&store.database, steps).await.map_err(|error| match error {
        PrepareError::Driver(error) => store.store_error(error),
        PrepareError::Rejected(error) => error,
    })
}

/// Applies the pending steps in one transaction.
async fn migrate(database: &Database, steps: &'static [&'static str]) -> Result<(), PrepareError> {
    let label = &*database.label;
    let mut transaction = database.pool.begin().await?;
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
    let oldest_reader: Option<i64> = match current > to_sql(steps.len()) {
        true => {
            query_scalar("SELECT oldest_reader FROM toolwright_meta")
                .fetch_optional(&mut *transaction)
                .await?
        }
        false => None,
    };
    for (version, step) in
        pending_migrations(label, current, oldest_reader, steps).map_err(PrepareError::Rejected)?
    {
        sqlx::raw_sql(step).execute(&mut *transaction).await?;
        if version == TURN_VERSION {
            compute_turns(&mut transaction).await?;
        }
        sqlx::query("UPDATE toolwright_version SET version = $1")
            .bind(version)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Sets the status of each conversation's last turn.
async fn compute_turns(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let last_entries: Vec<(i64, String)> = query_as(
        "SELECT DISTINCT ON (conversation) conversation, entry FROM toolwright_entries
         ORDER BY conversation, seq DESC",
    )
    .fetch_all(&mut *connection)
    .await?;
    for (number, _) in last_entries.iter().filter(|(_, entry)| !is_turn_end(entry)) {
        let texts: Vec<String> = query_scalar(
            "SELECT entry FROM toolwright_entries WHERE conversation = $1 ORDER BY seq",
        )
        .bind(number)
        .fetch_all(&mut *connection)
        .await?;
        sqlx::query("UPDATE toolwright_conversations SET turn = $1 WHERE number = $2")
            .bind(turn_to_sql(last_turn_status(&texts)))
            .bind(number)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
