//! Tests of the bridge to rig.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod browser;
mod conformance;
mod page;
