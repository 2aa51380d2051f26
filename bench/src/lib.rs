//! The shared workload of the benchmarks, and a stopwatch that prints ratios of one run.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

pub mod catalogue;
pub mod floor;
pub mod order;
pub mod race;
pub mod stream;
pub mod sum;
pub mod table;

pub use race::Race;
pub use table::Table;
