//! The tables of a PostgreSQL database, and the migrations that create them.

use sqlx::query_scalar;
use toolwright_chat::StoreError;

use super::retry::Database;
use super::{PostgresStore, error};
use crate::migrations::{PrepareError, newest_version, pending_migrations};

/// The advisory lock under which nodes that start at the same time migrate one after the other; no other program uses the
/// number.
const MIGRATION_LOCK: i64 = 0x746f_6f6c_7772_6967;

/// How often a migration is retried that was rolled back in a deadlock with queries of nodes that run.
const MAX_RETRIES: usize = 10;

/// The migrations, in order. A step that was released is never changed.
pub(super) const MIGRATIONS: &[&str] = &[FIRST_STEP];

/// Until 0.1 is published, it is edited in place, and every edit raises [`FIRST_VERSION`](crate::migrations::FIRST_VERSION).
///
/// Names, ids and titles are bytes: text cannot contain NUL, and they may.
const FIRST_STEP: &str = "
    CREATE TABLE toolwright_meta (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        -- The oldest version of the tables whose programs may use these.
        oldest_reader bigint NOT NULL,
        -- The highest term of a row of `toolwright_conversations` that was removed. New rows start with it, so that no
        -- conversation has a term twice.
        removed_term bigint NOT NULL
    );
    INSERT INTO toolwright_meta (oldest_reader, removed_term) VALUES (6, 0);

    -- The keys that sign approvals. The one with the highest number signs, the others verify.
    CREATE TABLE toolwright_keys (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key text NOT NULL
    );

    -- A row for each conversation that has a lease, an inbox or entries.
    CREATE TABLE toolwright_conversations (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        -- Begins with the owner.
        name bytea NOT NULL UNIQUE,

        -- The lease: both are null while it is free.
        holder bytea,
        until timestamptz,
        -- The number of its last acquisition.
        term bigint NOT NULL DEFAULT 0,

        -- No entry has a higher `seq`.
        next bigint NOT NULL DEFAULT 0,
        -- The number of entries, the title, and the times of the first and the last entry, in milliseconds since 1970.
        entries bigint NOT NULL DEFAULT 0,
        title bytea NOT NULL DEFAULT '',
        began bigint NOT NULL DEFAULT 0,
        last bigint NOT NULL DEFAULT 0,
        -- The last turn: 0 is over, 1 runs, 2 is paused.
        turn bigint NOT NULL DEFAULT 0,
        -- The position of the newest item that the inbox has or had.
        last_position bigint NOT NULL DEFAULT 0,

        CHECK ((holder IS NULL) = (until IS NULL))
    );
    CREATE INDEX toolwright_latest ON toolwright_conversations (last DESC, name) WHERE entries > 0;
    CREATE INDEX toolwright_running ON toolwright_conversations (number) WHERE turn = 1;

    -- The journals: the entries of a conversation by `seq`, each as its JSON text.
    CREATE TABLE toolwright_entries (
        conversation bigint NOT NULL,
        seq bigint NOT NULL,
        id bytea NOT NULL,
        entry text NOT NULL,
        PRIMARY KEY (conversation, seq),
        UNIQUE (conversation, id)
    );

    -- What was accepted and is not in the journal yet.
    CREATE TABLE toolwright_inbox (
        conversation bigint NOT NULL,
        position bigint NOT NULL,
        id bytea NOT NULL,
        kind text NOT NULL,
        payload text NOT NULL,
        principal text,
        peer bytea,
        -- Milliseconds since 1970.
        at bigint NOT NULL,
        -- True if it may be taken while the turn is paused.
        resumes boolean NOT NULL,
        PRIMARY KEY (conversation, position),
        UNIQUE (conversation, id)
    );

    -- Values and counters that the nodes share.
    CREATE TABLE toolwright_shared (
        space text NOT NULL,
        key bytea NOT NULL,
        -- That of a counter begins with its sum.
        value bytea NOT NULL,
        -- Null for what never expires.
        expires timestamptz,
        PRIMARY KEY (space, key)
    );
    CREATE INDEX toolwright_expiring ON toolwright_shared (expires) WHERE expires IS NOT NULL;

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

    -- Adds to a counter, unless the sum would exceed the maximum. A counter restarts if its time has come, or is further away
    -- than the window: then the clock was set back, or the window has become shorter.
    -- The sum of a counter; 0 for another value.
    CREATE FUNCTION toolwright_total(value bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
        SELECT least(coalesce(substring(encode(value, 'escape') FROM '^[0-9]+'), '0')::numeric, 9223372036854775807)::bigint
    $$;

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
            VALUES (counter_space, counter_key, convert_to(amount::text, 'UTF8'), clock_timestamp() + length)
            ON CONFLICT (space, key) DO UPDATE SET
                value = convert_to((amount + CASE
                    WHEN known.expires > clock_timestamp() AND known.expires <= clock_timestamp() + length
                    THEN toolwright_total(known.value) ELSE 0 END)::text, 'UTF8'),
                expires = CASE
                    WHEN known.expires > clock_timestamp() AND known.expires <= clock_timestamp() + length
                    THEN known.expires ELSE clock_timestamp() + length END
            WHERE amount <= max_total - toolwright_total(known.value)
                OR known.expires IS NULL
                OR known.expires <= clock_timestamp()
                OR known.expires > clock_timestamp() + length
            RETURNING toolwright_total(value), expires INTO new_total, restarts;
        END IF;
        is_admitted := restarts IS NOT NULL;
        IF restarts IS NULL THEN
            SELECT toolwright_total(value), expires INTO new_total, restarts FROM toolwright_shared
            WHERE space = counter_space AND key = counter_key
                AND expires > clock_timestamp() AND expires <= clock_timestamp() + length;
            new_total := coalesce(new_total, 0);
            restarts := coalesce(restarts, clock_timestamp() + length);
            is_admitted := amount = 0 AND new_total <= max_total;
        END IF;
        resets_in := greatest(0, ceil(extract(epoch FROM restarts - clock_timestamp()) * 1000));
    END $$;
";

/// Migrates a database to the version of these steps; other nodes may do the same at the same time.
pub(super) async fn prepare_schema(
    store: &PostgresStore,
    steps: &'static [&'static str],
) -> Result<(), StoreError> {
    let mut retries = MAX_RETRIES;
    loop {
        match migrate(&store.database, steps).await {
            Ok(()) => return Ok(()),
            Err(PrepareError::Rejected(error)) => return Err(error),
            Err(PrepareError::Driver(error)) if retries > 0 && error::is_deadlock(&error) => {
                retries -= 1;
            }
            Err(PrepareError::Driver(error)) => return Err(store.store_error(error)),
        }
    }
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
    let oldest_reader: Option<i64> = match current > newest_version(steps) {
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
        sqlx::query("UPDATE toolwright_version SET version = $1")
            .bind(version)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}
