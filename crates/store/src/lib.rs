//! Durable conversation stores: journals in a SQLite file, or in PostgreSQL for many nodes.
//!
//! Both store an entry as its JSON text, byte for byte, append it in the transaction that checks the lease, and migrate
//! their tables when they are opened.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod open;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod codec;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod migrations;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
#[cfg_attr(
    not(feature = "sqlite"),
    expect(dead_code, reason = "rows are written by backups, which are SQLite files")
)]
mod rows;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sweep_schedule;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod verify;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod write_load;

#[cfg(feature = "sqlite")]
mod backup;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "sqlite")]
pub use backup::{backup, restore};
pub use open::{StoreKind, open, open_existing};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use verify::{StoreProblem, VerifyReport, verify};
