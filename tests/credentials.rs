//! Credentials for attached servers, against a FastMCP server with an OAuth provider of its own: login, call, expiry, refresh,
//! revocation, and a kill in the middle of each.

#![cfg(unix)]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[path = "credentials/collector.rs"]
mod collector;
#[path = "support/command_output.rs"]
mod command_output;
#[path = "credentials/conformance.rs"]
mod conformance;
#[path = "credentials/life.rs"]
mod life;
#[path = "credentials/personal.rs"]
mod personal;
#[path = "credentials/program.rs"]
mod program;
#[path = "support/real.rs"]
mod real;
#[path = "credentials/secret_scan.rs"]
mod secret_scan;
#[path = "credentials/shop.rs"]
mod shop;
