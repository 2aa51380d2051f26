//! Tests of the public API.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "helpers of tests")]

mod embeddings;
mod export;
mod search;
mod vectors;
