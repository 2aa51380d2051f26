//! One conformance suite that every store passes, and tests of what each store adds.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod backend;
#[cfg(feature = "sqlite")]
mod backup;
mod conformance;
mod fixtures;
mod opening;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod verifying;
