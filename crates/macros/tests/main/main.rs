//! Tests of the macros: their expansions and their errors.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::too_many_arguments,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]
// For `denied_lints`: it is a lint of whole crates.
#![deny(non_ascii_idents)]

mod bundles;
mod call;
mod defaults;
// Public, because some lints are about public items only.
pub mod denied_lints;
mod descriptions;
mod discovery;
mod examples;
mod extractors;
mod functions;
mod hints;
mod lints;
mod macro_rules;
mod nested;
mod no_prelude;
mod parameters;
mod prompts;
mod results;
mod same_names;
mod tool_types;
mod ui;
