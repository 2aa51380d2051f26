//! Spans leave the program, and no collector can harm it.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

mod collector;
mod sending;
mod settings;
