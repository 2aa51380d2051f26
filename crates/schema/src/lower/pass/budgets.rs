//! Passes that shrink a schema until it fits the size limits of a dialect.

pub(crate) mod size_limits;
pub(crate) mod strict_budget;
