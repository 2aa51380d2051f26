//! Stores as conversations meet them: one suite for all of them, and what each has of its own.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod backend;
mod conformance;
mod fixtures;
mod opening;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
