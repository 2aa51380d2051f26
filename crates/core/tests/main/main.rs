//! The core as its users meet it: tools in, calls in, results out.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod approvals;
mod arguments;
mod audit;
mod batch;
mod bridge;
mod builder;
mod reconfigure;
mod panics_and_timeouts;
mod defaults;
mod errors;
mod placeholders;
mod resolve;
mod imported;
mod layers;
mod output;
mod pending_call;
mod request_approval;
mod prompts;
mod properties;
mod registry;
mod fixtures;
mod settings;
mod tower;
mod views;
