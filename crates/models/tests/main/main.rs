//! Models as their users meet them: every protocol through the same scenarios, the transports, and a real socket.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[macro_use]
mod conformance;
mod canned_transport;
mod collected_events;
mod corpus;
mod http;
mod protocol_fixture;
mod protocols;
mod recordings;
