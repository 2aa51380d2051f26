//! Processes that are killed or overloaded: nothing that was acknowledged is lost, and nothing happens twice.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod kill;
mod load;

/// A number of the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}
