//! The shared workload of the benchmarks, and timing of several implementations in one run.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

pub mod baseline;
pub mod catalogue;
pub mod comparison;
pub mod cpu_time;
pub mod order;
pub mod stream;
pub mod sum;
pub mod table;

pub use comparison::Comparison;
pub use table::Table;
