//! Tests of the public API.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod export;
mod search;
mod vectors;
