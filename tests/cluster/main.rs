//! Several nodes behind a balancer: any node serves any conversation, and nothing that was acknowledged is lost or happens
//! twice when nodes, the database, the bus or the connections between them fail.
//!
//! The nodes are `tests/test_programs/cluster.rs`, which `--test cluster` alone does not build:
//! `cargo build --all-features --example test_programs && cargo test --all-features --test cluster`.
//!
//! `TEST_CLUSTER_CONVERSATIONS`, `TEST_CLUSTER_SECONDS` and `TEST_CLUSTER_SEED` set the size, the time and the
//! random numbers of the run with faults, and `TEST_CLUSTER_RACES` the number of races;
//! `TEST_CLUSTER_OLD_NODE` names the program of an older build, for the upgrade (see `upgrade.rs`).

#![cfg(unix)]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod chaos;
mod drain;
mod faults;
mod leases;
mod protocols;
mod races;
mod smoke;
mod subscriber;
mod takeover;
mod upgrade;
mod view;

/// A number of the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}
