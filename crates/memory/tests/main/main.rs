//! Stores as conversations meet them: one suite for all of them, and what each has of its own.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod conformance;
mod opening;
mod place;
#[cfg(feature = "postgres")]
mod postgres;
mod scene;
#[cfg(feature = "postgres")]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
