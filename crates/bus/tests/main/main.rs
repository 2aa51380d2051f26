//! One conformance suite that every bus passes, and tests of servers that stop, restart and are cut off.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod backend;
mod conformance;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod connection_loss;
#[cfg_attr(not(any(feature = "nats", feature = "postgres")), allow(dead_code))]
mod fixtures;
#[cfg(feature = "nats")]
mod nats;
mod opening;
#[cfg(feature = "postgres")]
mod postgres;
