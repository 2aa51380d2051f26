//! The baseline of a call: `serde_json` only, from argument text to result text.

use crate::{order::plain, sum};

/// The name of its row.
pub const ROW_NAME: &str = "serde_json, function, serde_json";

/// Places the order in `text`.
pub fn place_order(text: &str) -> String {
    let plain::Args { order, dry_run } = serde_json::from_str(text).unwrap();
    serde_json::to_string(&plain::work(order, dry_run)).unwrap()
}

/// Adds the two numbers in `text`.
pub fn add(text: &str) -> String {
    let sum::Args { a, b } = serde_json::from_str(text).unwrap();
    serde_json::to_string(&sum::add(a, b)).unwrap()
}
