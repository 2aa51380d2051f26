//! Connects to the database that a URL names.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::time::timeout;
use toolwright_chat::StoreError;

use super::connection::{PING_TIMEOUT, QUERY_TIMEOUT};
use super::retry::Database;
use super::shared_state::PostgresSharedState;
use super::{PostgresStore, schema};
use crate::sweep_schedule::SweepSchedule;
use crate::write_load::WriteLoad;

/// The maximum number of connections of a node.
const MAX_CONNECTIONS: u32 = 8;

/// How long to wait for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that was idle for less is used without a ping, which would cost as much as a query.
const IDLE_BEFORE_PING: Duration = Duration::from_secs(5);

impl PostgresStore {
    /// Connects to a database, and creates the tables that are missing.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached, refuses the user, or has tables of a newer version or a development version.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::connect_with(url, schema::MIGRATIONS).await
    }

    /// Connects as a version that knows these migrations, which tests use to run versions side by side.
    pub(super) async fn connect_with(
        url: &str,
        steps: &'static [&'static str],
    ) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url).map_err(|error| {
            StoreError::new(
                "the URL of the database cannot be read: write `postgres://USER@HOST/DATABASE`",
            )
            .with_source(error)
        })?;
        let options = options.application_name("toolwright");
        let label = label(&options);
        let pool = PgPoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    let is_fresh = meta.idle_for < IDLE_BEFORE_PING;
                    Ok(is_fresh
                        || timeout(PING_TIMEOUT, connection.ping())
                            .await
                            .is_ok_and(|ping| ping.is_ok()))
                })
            })
            .after_connect(|connection, _| {
                Box::pin(async move {
                    // An append returns when the entry is on the disk. Stricter settings of the server stay in force.
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
        let database = Database { pool, label, query_timeout: QUERY_TIMEOUT };
        let load = Arc::new(WriteLoad::default());
        let shared_state = Arc::new(PostgresSharedState {
            database: database.clone(),
            load: Arc::clone(&load),
            sweeps: SweepSchedule::default(),
        });
        let store = Self { database, load, shared_state };
        schema::prepare_schema(&store, steps).await?;
        Ok(store)
    }
}

/// Names the database in error messages, without the password.
fn label(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or(options.get_username());
    match options.get_socket() {
        Some(socket) => format!("the database `{database}` at `{}`", socket.display()),
        None => {
            format!("the database `{database}` at `{}:{}`", options.get_host(), options.get_port())
        }
    }
}
