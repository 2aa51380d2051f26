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
mod connection_loss;
mod fixtures;
mod nats;
mod opening;
mod postgres;
