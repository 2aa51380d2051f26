//! One conformance suite that every store passes, and tests of what each store adds.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod backend;
mod backup;
mod conformance;
mod fixtures;
mod opening;
mod postgres;
mod sqlite;
mod verifying;
