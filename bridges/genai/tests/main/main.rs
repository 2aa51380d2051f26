//! Tests of the bridge to genai.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod conformance;
mod wire;
