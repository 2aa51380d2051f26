//! Finds the subschema that applies to a member or an element, as a path (`#/properties/a`) into the schema.

use serde_json::Value;

use crate::escape_pointer_token;

/// How many subschemas are visited per lookup: schemas may come from untrusted servers.
const MAX_VISITED_SUBSCHEMAS: usize = 64;

fn subschema_at<'s>(root: &'s Value, path: &str) -> Option<&'s Value> {
    root.pointer(path.strip_prefix('#')?)
}

fn child_pointer(path: &str, keyword: &str, name: &str) -> String {
    format!("{path}/{keyword}/{}", escape_pointer_token(name))
}

/// Collects the paths of all subschemas that apply to the same value as `path`. Of several alternatives one is followed, if
/// only it can accept the type.
fn collect_same_value_paths(
    root: &Value,
    path: &str,
    json_type: Option<&str>,
    found: &mut Vec<String>,
) {
    let Some(object) = subschema_at(root, path).and_then(Value::as_object) else {
        return;
    };
    if found.len() >= MAX_VISITED_SUBSCHEMAS || found.iter().any(|seen| seen == path) {
        return;
    }
    found.push(path.to_owned());
    if let Some(target) = object.get("$ref").and_then(Value::as_str) {
        collect_same_value_paths(root, target, json_type, found);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let count = object.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
        let mut branches: Vec<String> = (0..count.min(MAX_VISITED_SUBSCHEMAS))
            .map(|at| format!("{path}/{keyword}/{at}"))
            .collect();
        if let (true, Some(json_type)) = (keyword != "allOf", json_type) {
            branches.retain(|branch| may_admit_type(root, branch, json_type, 8));
            if branches.len() > 1 {
                continue;
            }
        }
        branches.iter().for_each(|branch| collect_same_value_paths(root, branch, json_type, found));
    }
}

fn may_admit_type(root: &Value, path: &str, json_type: &str, depth: u8) -> bool {
    let Some(schema) = subschema_at(root, path) else {
        return true;
    };
    if let (Some(target), Some(depth)) =
        (schema.get("$ref").and_then(Value::as_str), depth.checked_sub(1))
    {
        return may_admit_type(root, target, json_type, depth);
    }
    match schema.get("type") {
        Some(Value::String(name)) => name == json_type,
        Some(Value::Array(names)) => names.iter().any(|name| name == json_type),
        _ => schema.get("const").is_none() && schema.get("enum").is_none(),
    }
}

/// The only subschema that applies to a member (`Ok`) or an element (`Err`); `None` if there are none or several.
pub(super) fn child_subschema_path(
    root: &Value,
    path: &str,
    child: Result<&String, usize>,
) -> Option<String> {
    let mut paths = Vec::new();
    let json_type = if child.is_ok() { "object" } else { "array" };
    collect_same_value_paths(root, path, Some(json_type), &mut paths);
    let mut found: Option<String> = None;
    for path in paths {
        let schema = subschema_at(root, &path)?;
        let child_path = match child {
            Ok(key)
                if schema.get("properties").is_some_and(|declared| declared.get(key).is_some()) =>
            {
                child_pointer(&path, "properties", key)
            }
            // Only the validator can decide whether a pattern matches the key.
            Ok(_) if schema.get("patternProperties").is_some() => return None,
            Ok(_) if schema.get("additionalProperties").is_some() => {
                format!("{path}/additionalProperties")
            }
            Err(at) if schema.get("prefixItems").is_some_and(|items| items.get(at).is_some()) => {
                format!("{path}/prefixItems/{at}")
            }
            Err(_) if schema.get("items").is_some() => format!("{path}/items"),
            _ => continue,
        };
        if found.replace(child_path).is_some() {
            return None;
        }
    }
    found
}

/// The strings listed by an `enum` at this path.
pub(super) fn enum_strings<'s>(root: &'s Value, path: &str) -> Vec<&'s str> {
    let listed = same_value_schemas(root, path).into_iter().flat_map(|schema| {
        let many = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        many.chain(schema.get("const"))
    });
    listed.filter_map(Value::as_str).collect()
}

/// The types that `type` names at this path, those of alternatives included.
pub(super) fn type_names<'s>(root: &'s Value, path: &str) -> Vec<&'s str> {
    let named = same_value_schemas(root, path).into_iter().filter_map(|schema| schema.get("type"));
    let names = named.flat_map(|json_type| {
        json_type.as_array().map_or(std::slice::from_ref(json_type), Vec::as_slice)
    });
    names.filter_map(Value::as_str).collect()
}

/// All subschemas that apply to the same value as this path.
fn same_value_schemas<'s>(root: &'s Value, path: &str) -> Vec<&'s Value> {
    let mut paths = Vec::new();
    collect_same_value_paths(root, path, None, &mut paths);
    paths.iter().filter_map(|path| subschema_at(root, path)).collect()
}
