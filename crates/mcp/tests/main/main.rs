//! The server as clients meet it, over HTTP and over lines, polite and hostile; the client; the conformance suites of both.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod approval;
mod client;
mod client_to_server;
mod clients;
mod cluster;
mod conformance_client;
mod conformance_server;
mod fixture;
mod hostile;
mod issuer;
mod lists;
mod npm;
mod oauth;
mod resources;
mod scopes;
mod session_owners;
mod sessions;
mod stateless;
mod stdio;
mod tasks;
mod tool_search;
mod trusted_issuer;
