//! Tests of the guards: one attack per test, and the uses that are allowed.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod http;
#[cfg(unix)]
mod jail;
mod param;
