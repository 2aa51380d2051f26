//! What the guards refuse, one attack per test, and what they allow.

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
