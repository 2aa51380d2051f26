//! What the tests of MCP share: a client that sends exactly what a test writes, and tools.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

pub mod client;
pub mod tools;
