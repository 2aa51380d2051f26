//! Tests of the bridge to adk's agent.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod conformance;
