//! The server as clients meet it: over HTTP and over lines, polite and hostile.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod approval;
mod client_to_server;
mod clients;
mod cluster;
mod fixture;
mod hostile;
mod issuer;
mod lists;
mod npm;
mod oauth;
#[path = "../../../../tests/support/real.rs"]
mod real;
mod resources;
mod scopes;
mod session_owners;
mod sessions;
mod stateless;
mod stdio;
mod support;
mod tasks;
mod tool_search;
mod tools;
