//! Tests of the core through its public API.

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
mod child_calls;
mod defaults;
mod errors;
mod fixtures;
mod imported;
mod layers;
mod output;
mod panics_and_timeouts;
mod parse_count;
mod pending_call;
mod placeholders;
mod prompts;
mod properties;
mod reconfigure;
mod registry;
mod request_approval;
mod resolve;
mod settings;
mod shared_limits;
mod shared_state;
mod tower;
mod views;
