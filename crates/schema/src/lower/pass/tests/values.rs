//! Tests of the passes over what one value may be.

mod booleans;
mod bounds;
mod constants;
mod enums;
mod formats;
mod nulls;
mod types;
