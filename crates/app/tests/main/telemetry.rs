//! Spans are exported, and a faulty collector does not affect the program.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod collector;
mod sending;
mod settings;
