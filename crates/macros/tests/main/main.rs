//! Tests of the macros: their expansions and their errors.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::too_many_arguments,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod bundles;
mod call;
mod defaults;
mod descriptions;
mod discovery;
mod examples;
mod extractors;
mod functions;
mod hints;
mod lints;
mod nested;
mod parameters;
mod prompts;
mod results;
mod tool_types;
mod ui;
