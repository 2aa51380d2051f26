//! Several nodes behind a balancer: any node serves any conversation, and nothing that was acknowledged is lost or happens
//! twice when nodes, the database, the bus or the connections between them fail.
//!
//! The nodes are `tests/cluster/program.rs`, which `--test cluster` alone does not build:
//! `cargo build --example cluster_node && cargo test --test cluster`. One cluster runs at a time.
//!
//! `TOOLWRIGHT_CLUSTER_CONVERSATIONS`, `TOOLWRIGHT_CLUSTER_SECONDS` and `TOOLWRIGHT_CLUSTER_SEED` set the size, the time and the
//! random numbers of the run with faults, and `TOOLWRIGHT_CLUSTER_RACES` the number of races;
//! `TOOLWRIGHT_CLUSTER_OLD_NODE` names the program of an older build, for the upgrade (see `cluster/upgrade.rs`).

#![cfg(unix)]
#![allow(dead_code, reason = "the harness has what its tests and the benchmark need")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[path = "support/api_client/address.rs"]
mod address;
#[path = "cluster/chaos.rs"]
mod chaos;
#[path = "support/api_client/client.rs"]
mod client;
#[path = "cluster/drain.rs"]
mod drain;
#[path = "cluster/faults.rs"]
mod faults;
#[path = "support/api_client/history.rs"]
mod history;
#[path = "support/api_client/http.rs"]
mod http;
#[path = "support/api_client/journal.rs"]
mod journal;
#[path = "cluster/leases.rs"]
mod leases;
#[path = "cluster/nodes.rs"]
mod nodes;
#[path = "cluster/process.rs"]
mod process;
#[path = "cluster/protocols.rs"]
mod protocols;
#[path = "cluster/races.rs"]
mod races;
#[path = "support/real.rs"]
mod real;
#[path = "../crates/store/tests/main/server.rs"]
mod server;
#[path = "cluster/services.rs"]
mod services;
#[path = "cluster/smoke.rs"]
mod smoke;
#[path = "cluster/subscriber.rs"]
mod subscriber;
#[path = "cluster/takeover.rs"]
mod takeover;
#[path = "cluster/upgrade.rs"]
mod upgrade;
#[path = "cluster/view.rs"]
mod view;

/// A number of the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}
