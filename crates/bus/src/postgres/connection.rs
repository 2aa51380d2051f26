//! Connects to the database, and describes its errors.

use std::str::FromStr as _;
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use crate::bus::BusError;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The bytes of the longest name that PostgreSQL allows for a notification channel.
const MAX_NAME_BYTES: usize = 63;

const UNREACHABLE: &str = "cannot be reached: see that it runs, and that host and port are right";

/// Prefixes of SQLSTATE codes, and what each means for the operator; the first match counts.
const ERROR_MESSAGES: &[(&str, &str)] = &[
    ("28", "refuses the user: check the name, the password and `pg_hba.conf`"),
    ("3D000", "is not there: make it with `createdb`"),
    ("53300", "has too many connections: allow more, or try again"),
    ("53100", "has no room on its disk: make room"),
    (
        "54000",
        "has no room for more notifications: look for a session that listens in a transaction that never ends",
    ),
    ("57P", UNREACHABLE),
    ("08", UNREACHABLE),
    ("25006", "is a standby: name the primary"),
];

/// The database that a URL names.
#[derive(Clone)]
pub(super) struct Database {
    options: PgConnectOptions,
}

impl Database {
    pub(super) fn parse(url: &str) -> Result<Self, BusError> {
        let options = PgConnectOptions::from_str(url).map_err(|error| {
            let message = "the URL of the bus cannot be read: write `postgres://HOST/DATABASE`, with `USER:PASSWORD@` before the host";
            BusError::new(message).with_source(error)
        })?;
        Ok(Self { options: options.application_name("toolwright") })
    }

    /// Names the database, without the password.
    pub(super) fn label(&self) -> String {
        let options = &self.options;
        let database = options.get_database().unwrap_or(options.get_username());
        match options.get_socket() {
            Some(socket) => format!("the database `{database}` at `{}`", socket.display()),
            None => {
                let (host, port) = (options.get_host(), options.get_port());
                format!("the database `{database}` at `{host}:{port}`")
            }
        }
    }

    /// Opens a connection, and returns the name of the notification channel with it.
    pub(super) async fn connect(&self) -> Result<(PgConnection, String), String> {
        let connect = async {
            let mut connection = PgConnection::connect_with(&self.options).await?;
            let row = sqlx::query_as(
                "SELECT current_schema(), current_setting('server_encoding'), pg_is_in_recovery()",
            );
            let row: (Option<String>, String, bool) = row.fetch_one(&mut connection).await?;
            Ok((connection, row))
        };
        let (connection, (schema, encoding, is_standby)) = self.within_timeout(connect).await?;
        let refused = |reason: &str| Err(format!("{} {reason}", self.label()));
        let Some(schema) = schema else {
            return refused("has none of the schemas of the search path: create one");
        };
        if encoding != "UTF8" {
            return refused(&format!("has the encoding {encoding}: create it with UTF8"));
        }
        if is_standby {
            return refused("is a standby: name the primary");
        }
        Ok((connection, notification_channel(&schema)))
    }

    /// Listens to the notification channel.
    pub(super) async fn listen(&self) -> Result<PgListener, String> {
        // The listener below reports a refused connection only after its timeout.
        let (connection, channel) = self.connect().await?;
        // It is not used again, so an error of closing it has no effect.
        let _ = connection.close().await;
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .acquire_timeout(CONNECT_TIMEOUT)
            .connect_lazy_with(self.options.clone());
        let listen = async {
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.eager_reconnect(false);
            listener.listen(&channel).await?;
            Ok(listener)
        };
        self.within_timeout(listen).await
    }

    async fn within_timeout<T>(
        &self,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, String> {
        match timeout(CONNECT_TIMEOUT, work).await {
            Ok(done) => done.map_err(|error| self.describe(&error)),
            Err(_) => Err(format!("{} {UNREACHABLE}", self.label())),
        }
    }

    /// Describes an error, and what to do about it; without the password.
    pub(super) fn describe(&self, error: &sqlx::Error) -> String {
        let meaning = match error {
            sqlx::Error::Database(error) => {
                let code = error.code().unwrap_or_default();
                let known = ERROR_MESSAGES.iter().find(|(prefix, _)| code.starts_with(prefix));
                known.map(|(_, meaning)| *meaning)
            }
            sqlx::Error::Tls(_) => Some(
                "cannot be reached over a trusted TLS connection: check `sslmode` and `sslrootcert`",
            ),
            _ => Some(UNREACHABLE),
        };
        format!("{} {}: {error}", self.label(), meaning.unwrap_or("cannot be used"))
    }
}

/// The name of the notification channel of a schema, so that several installations may use one database.
fn notification_channel(schema: &str) -> String {
    let name = format!("toolwright_bus_{schema}");
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let digest: String = HEXLOWER.encode(&Sha256::digest(schema)).chars().take(32).collect();
    format!("toolwright_bus_{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_have_channels_of_their_own_within_the_length_of_a_name() {
        assert_eq!(notification_channel("public"), "toolwright_bus_public");
        let long = |last| notification_channel(&format!("{}{last}", "s".repeat(62)));
        assert!(long('a').len() <= MAX_NAME_BYTES);
        assert_ne!(long('a'), long('b'));
    }

    #[test]
    fn labels_have_no_password() {
        let database = Database::parse("postgres://ada:hunter2@db.example:5433/shop").ok();
        let label = database.map(|database| database.label());
        assert_eq!(label.as_deref(), Some("the database `shop` at `db.example:5433`"));
    }
}
