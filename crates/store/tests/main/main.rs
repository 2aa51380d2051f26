//! The conformance suite over every store, and tests of what each store adds.

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
mod opening;
mod postgres;
mod sqlite;
mod verifying;

use test_support_store::fixtures;
