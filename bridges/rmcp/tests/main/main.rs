//! Tests of the bridge to rmcp.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests")]

mod conformance;
mod peers;
mod protocol;
