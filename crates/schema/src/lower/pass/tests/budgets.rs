//! Tests of the passes that enforce size limits.

mod size_limits;
mod strict_budget;
