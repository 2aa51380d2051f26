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
mod changes;
mod containment;
mod defaults;
mod errors;
mod expansion;
mod find;
mod imported;
mod layers;
mod output;
mod pending;
mod permission;
mod prompts;
mod properties;
mod registry;
mod scene;
mod settings;
mod tower;
mod views;
