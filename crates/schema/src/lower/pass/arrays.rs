//! Passes over the elements of arrays: tuples and `maxItems`.

pub(crate) mod item_counts;
pub(crate) mod tuples;
