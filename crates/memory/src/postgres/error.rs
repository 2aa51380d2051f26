//! What PostgreSQL complains about in, what to do about it out.

use toolwright_chat::StoreError;

/// How SQLSTATEs begin, and what they mean for whoever named the database; the first that fits.
const MEANINGS: &[(&str, &str)] = &[
    (
        "28",
        "refuses the user: check the name, the password and `pg_hba.conf`",
    ),
    ("3D000", "is not there: make it with `createdb`"),
    (
        "42501",
        "does not allow it: grant the user what it needs, or have its owner start this once",
    ),
    (
        "25006",
        "is read-only: connect to the primary, not to a standby",
    ),
    ("53100", "has no room on its disk: make room and try again"),
    (
        "53300",
        "has too many connections: allow more, or try again",
    ),
    ("57P03", UNREACHABLE),
    ("57P", LOST),
    ("08", LOST),
    ("XX001", "is damaged: bring back a copy"),
    ("XX002", "is damaged: bring back a copy"),
];

const UNREACHABLE: &str = "cannot be reached: see that it runs, and that host and port are right";
const LOST: &str = "has broken the connection: try again when it is back";

/// Says what is wrong with a database.
pub(super) fn of(place: &str, error: sqlx::Error) -> StoreError {
    let meaning = match &error {
        sqlx::Error::Database(said) => said.code().and_then(|code| meaning(&code)),
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => Some(UNREACHABLE),
        sqlx::Error::Tls(_) => {
            Some("has no encryption that both sides trust: check `sslmode` and `sslrootcert`")
        }
        sqlx::Error::Protocol(_) => Some(LOST),
        _ => None,
    };
    let meaning = meaning.unwrap_or("cannot be used");
    StoreError::new(format!("{place} {meaning}")).with_source(error)
}

fn meaning(code: &str) -> Option<&'static str> {
    let mut known = MEANINGS.iter();
    let (_, meaning) = known.find(|(begins, _)| code.starts_with(begins))?;
    Some(meaning)
}

/// Whether the connection is gone, so that another may do better.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(said) => said.code().and_then(|code| meaning(&code)) == Some(LOST),
        _ => false,
    }
}
