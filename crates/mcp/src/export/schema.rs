//! An output schema in, one of an object out, for revisions where structured content has to be one.

use serde_json::{Value, json};
use toolwright_core::schema::Schema;

use crate::server::reply::set;

/// Tells whether values of the schema are wrapped as `{"result": …}`.
pub(crate) fn needs_wrap(schema: &Schema) -> bool {
    schema.as_value().get("type").and_then(Value::as_str) != Some("object")
}

/// Wraps a schema as its values are wrapped.
pub(crate) fn wrapped(schema: &Schema) -> Value {
    let mut inner = schema.as_value().clone();
    let mut outer = json!({ "type": "object", "properties": {}, "required": ["result"] });
    let fields = inner.as_object_mut();
    // References start at the root, so what they point to has to stay there.
    if let Some(fields) = fields {
        for shared in ["$schema", "$defs", "definitions"] {
            if let Some(value) = fields.shift_remove(shared) {
                set(&mut outer, shared, value);
            }
        }
    }
    move_root(&mut inner);
    if let Some(defs) = outer.get_mut("$defs") {
        move_root(defs);
    }
    set(&mut outer, "properties", json!({ "result": inner }));
    outer
}

/// Points whatever pointed to the root to where it is now.
fn move_root(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(target) if name == "$ref" && target == "#" => {
                        "#/properties/result".clone_into(target);
                    }
                    field => move_root(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(move_root),
        _ => {}
    }
}

/// Lists the values that a parameter can have, where its schema counts them.
pub(crate) fn choices(root: &Value, parameter: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(schema) = root.get("properties").and_then(|all| all.get(parameter)) {
        collect(root, schema, 8, &mut found);
    }
    found
}

fn collect(root: &Value, schema: &Value, depth: usize, found: &mut Vec<String>) {
    // Schemas may come from strangers, and contain themselves.
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str)
        && let Some(target) = pointer
            .strip_prefix('#')
            .and_then(|path| root.pointer(path))
    {
        collect(root, target, depth, found);
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
            collect(root, branch, depth, found);
        }
    }
}
