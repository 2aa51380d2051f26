//! Tests of the guards: one attack per test, and the uses that are allowed.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[cfg(feature = "https")]
mod http;
#[cfg(unix)]
mod jail;
#[cfg(feature = "http")]
mod param;
