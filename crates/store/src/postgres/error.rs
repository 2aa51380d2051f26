//! Converts errors of PostgreSQL to errors that state the remedy.

use toolwright_chat::StoreError;

/// Prefixes of SQLSTATE codes, and what each means for the operator who configured the database; the first match counts.
const ERROR_MESSAGES: &[(&str, &str)] = &[
    ("28", "refuses the user: check the name, the password and `pg_hba.conf`"),
    ("3D000", "is not there: make it with `createdb`"),
    (
        "42501",
        "denies permission: grant the user access to the tables, or start this program once as the owner of the database",
    ),
    ("25006", "is read-only: connect to the primary, not to a standby"),
    ("53100", "has no room on its disk: make room and try again"),
    ("53300", "has too many connections: allow more, or try again"),
    ("57P03", UNREACHABLE),
    ("57P", CONNECTION_LOST),
    ("08", CONNECTION_LOST),
    ("XX001", "is damaged: restore a backup"),
    ("XX002", "is damaged: restore a backup"),
];

const UNREACHABLE: &str = "cannot be reached: see that it runs, and that host and port are right";
const CONNECTION_LOST: &str = "closed the connection: try again when it is available";

const DEADLOCK: &str = "40P01";

/// Describes what is wrong with a database and what to do about it.
pub(super) fn store_error(label: &str, error: sqlx::Error) -> StoreError {
    let meaning = match &error {
        sqlx::Error::Database(error) => error.code().and_then(|code| message_for_code(&code)),
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => Some(UNREACHABLE),
        sqlx::Error::Tls(_) => Some(
            "cannot be reached over a trusted TLS connection: check `sslmode` and `sslrootcert`",
        ),
        sqlx::Error::Protocol(_) => Some(CONNECTION_LOST),
        _ => None,
    };
    let meaning = meaning.unwrap_or("cannot be used");
    StoreError::new(format!("{label} {meaning}")).with_source(error)
}

fn message_for_code(code: &str) -> Option<&'static str> {
    let mut known = ERROR_MESSAGES.iter();
    let (_, meaning) = known.find(|(prefix, _)| code.starts_with(prefix))?;
    Some(meaning)
}

/// Returns true if the transaction was rolled back because it and another one waited for each other, so that a retry succeeds.
/// A migration that changes tables waits for the queries of nodes that run, and they for it.
pub(super) fn is_deadlock(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| code == DEADLOCK)
}

/// Returns true if the connection was lost, so that a retry on another one may succeed.
pub(super) fn is_connection_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => {
            error.code().and_then(|code| message_for_code(&code)) == Some(CONNECTION_LOST)
        }
        _ => false,
    }
}
