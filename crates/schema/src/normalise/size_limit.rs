//! Limits the size of the input.

use serde_json::Value;

use crate::{InputLimits, ParseError, SchemaError};

/// The maximum number of values.
const MAX_VALUES: usize = 100_000;

/// Rejects a schema that is too deep or too large.
///
/// The number of bytes is a lower bound: `Schema::check` counts them exactly.
pub(super) fn check_size(value: &Value) -> Result<(), SchemaError> {
    let limits = InputLimits::default();
    let refuse = |message: String| Err(SchemaError::new("", message));
    let (mut values, mut bytes) = (0, 0);
    let mut stack = vec![(value, 0)];
    while let Some((value, depth)) = stack.pop() {
        values += 1;
        if depth > limits.depth {
            let limit = limits.depth;
            return refuse(ParseError::TooDeep { limit }.to_string());
        }
        match value {
            Value::Array(elements) => {
                stack.extend(elements.iter().map(|element| (element, depth + 1)));
            }
            Value::Object(members) => {
                bytes += members.keys().map(|key| key.len() + 3).sum::<usize>();
                stack.extend(members.values().map(|member| (member, depth + 1)));
            }
            Value::String(text) => bytes += text.len() + 2,
            Value::Null | Value::Bool(_) | Value::Number(_) => bytes += 1,
        }
        if values + stack.len() > MAX_VALUES {
            return refuse(format!(
                "more than {MAX_VALUES} values: no schema of that size is read"
            ));
        }
        if bytes > limits.bytes {
            return refuse(format!(
                "more than {} bytes: no schema of that size is read",
                limits.bytes
            ));
        }
    }
    Ok(())
}
