//! The public API: every protocol in the same scenarios, and HTTP over a real socket.

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
mod custom_tools;
mod embeddings;
mod fallback;
mod http;
mod native_search;
mod protocol_fixture;
mod protocols;
