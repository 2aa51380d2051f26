//! `add(2, 3)`: a call so small that only the way to it costs anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of one call, as a model would send them.
pub const ARGUMENTS_JSON: &str = r#"{"a":2,"b":3}"#;

/// The arguments of one call.
#[derive(Deserialize, JsonSchema, Serialize)]
pub struct Args {
    /// One number.
    pub a: i64,
    /// The other number.
    pub b: i64,
}

/// Adds two numbers.
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}
