//! Tests of the passes over arrays.

mod item_counts;
mod tuples;
