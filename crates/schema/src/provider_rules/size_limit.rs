//! Limits the size of a schema before it is checked.

use serde_json::Value;

/// The maximum nesting of containers.
const MAX_DEPTH: usize = 128;
const MAX_VALUES: usize = 100_000;

/// The size limit that a schema exceeds.
pub(super) fn exceeded_limit(schema: &Value) -> Option<String> {
    let mut stack = vec![(schema, 0)];
    let mut seen = 0_usize;
    while let Some((value, depth_of_parent)) = stack.pop() {
        seen += 1;
        if seen + stack.len() > MAX_VALUES {
            return Some(format!("a schema may have no more than {MAX_VALUES} values"));
        }
        let depth = depth_of_parent + 1;
        if depth > MAX_DEPTH && (value.is_object() || value.is_array()) {
            return Some(format!("a schema may not be deeper than {MAX_DEPTH}"));
        }
        match value {
            Value::Array(items) => stack.extend(items.iter().map(|item| (item, depth))),
            Value::Object(members) => stack.extend(members.values().map(|member| (member, depth))),
            _ => {}
        }
    }
    None
}
