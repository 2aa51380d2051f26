//! A URL in, connections out.

use std::str::FromStr as _;
use std::time::Duration;

use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use toolwright_chat::StoreError;

use super::{PostgresStore, schema};
use crate::load::Load;

/// How many connections a node has at most.
const CONNECTIONS: u32 = 8;

/// How long a connection is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that was used so lately is taken to be alive; asking it costs as much as using it.
const FRESH: Duration = Duration::from_secs(5);

impl PostgresStore {
    /// Connects to a database, and makes the tables that are missing.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached, refuses the user, or has tables of a newer version.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url).map_err(|error| {
            StoreError::new(
                "the URL of the database cannot be read: write `postgres://USER@HOST/DATABASE`",
            )
            .with_source(error)
        })?;
        let options = options.application_name("toolwright");
        let place = place(&options);
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE)
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    let sure = meta.idle_for < FRESH;
                    Ok(sure || connection.ping().await.is_ok())
                })
            })
            .after_connect(|connection, _| {
                Box::pin(async move {
                    // An entry is on the disk when it is told; a server that asks for more than that still gets it.
                    sqlx::query(
                        "SELECT set_config('synchronous_commit', 'on', false)
                         WHERE current_setting('synchronous_commit') = 'off'",
                    )
                    .execute(connection)
                    .await?;
                    Ok(())
                })
            })
            .connect_lazy_with(options);
        let store = Self {
            pool,
            place,
            load: Load::default(),
        };
        schema::prepare(&store).await?;
        Ok(store)
    }
}

/// Which database it is, in words for a person.
fn place(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or(options.get_username());
    match options.get_socket() {
        Some(socket) => format!("the database `{database}` at `{}`", socket.display()),
        None => format!(
            "the database `{database}` at `{}:{}`",
            options.get_host(),
            options.get_port()
        ),
    }
}
