//! Conversations that outlive the process: journals in a SQLite file, or in PostgreSQL for many nodes.
//!
//! Both keep an entry as the JSON text it was written as, add it in one transaction with the check of the lease, and bring
//! their tables up to date when they are opened.

mod open;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod codec;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod load;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod migrations;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use open::{open, open_existing};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
