//! The values that a schema enumerates, for completion.

use serde_json::Value;

/// Lists the values of a parameter with an `enum`, a `const` or the type boolean.
pub(crate) fn enum_values(root: &Value, parameter: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(schema) = root.get("properties").and_then(|all| all.get(parameter)) {
        collect_enum_values(root, schema, 8, &mut found);
    }
    found
}

fn collect_enum_values(root: &Value, schema: &Value, depth: usize, found: &mut Vec<String>) {
    // A schema of an attached server may contain itself.
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str)
        && let Some(target) = pointer.strip_prefix('#').and_then(|path| root.pointer(path))
    {
        collect_enum_values(root, target, depth, found);
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    let values = listed.into_iter().flatten().chain(schema.get("const"));
    for value in values {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null => continue,
            other => other.to_string(),
        };
        if !found.contains(&text) {
            found.push(text);
        }
    }
    if schema.get("type").and_then(Value::as_str) == Some("boolean") {
        found.extend(["true".to_owned(), "false".to_owned()]);
    }
    for branches in ["anyOf", "oneOf"] {
        let branches = schema.get(branches).and_then(Value::as_array);
        for branch in branches.into_iter().flatten() {
            collect_enum_values(root, branch, depth, found);
        }
    }
}
