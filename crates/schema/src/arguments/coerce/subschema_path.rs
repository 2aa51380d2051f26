//! Where in the schema a part of the value belongs.

use serde_json::Value;

/// How many subschemas are visited for one answer; schemas may come from strangers.
const MAX_VISITED_SUBSCHEMAS: usize = 64;

fn subschema_at<'s>(root: &'s Value, place: &str) -> Option<&'s Value> {
    root.pointer(place.strip_prefix('#')?)
}

fn child_pointer(place: &str, keyword: &str, name: &str) -> String {
    format!(
        "{place}/{keyword}/{}",
        name.replace('~', "~0").replace('/', "~1")
    )
}

/// All places that look at the same value as `place`; of several alternatives only one that alone can hold it.
fn collect_same_value_paths(
    root: &Value,
    place: &str,
    kind: Option<&str>,
    found: &mut Vec<String>,
) {
    let Some(object) = subschema_at(root, place).and_then(Value::as_object) else {
        return;
    };
    if found.len() >= MAX_VISITED_SUBSCHEMAS || found.iter().any(|seen| seen == place) {
        return;
    }
    found.push(place.to_owned());
    if let Some(target) = object.get("$ref").and_then(Value::as_str) {
        collect_same_value_paths(root, target, kind, found);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let count = object
            .get(keyword)
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        let mut branches: Vec<String> = (0..count.min(MAX_VISITED_SUBSCHEMAS))
            .map(|at| format!("{place}/{keyword}/{at}"))
            .collect();
        if let (true, Some(kind)) = (keyword != "allOf", kind) {
            branches.retain(|branch| may_admit_type(root, branch, kind, 8));
            if branches.len() > 1 {
                continue;
            }
        }
        branches
            .iter()
            .for_each(|branch| collect_same_value_paths(root, branch, kind, found));
    }
}

fn may_admit_type(root: &Value, place: &str, kind: &str, depth: u8) -> bool {
    let Some(schema) = subschema_at(root, place) else {
        return true;
    };
    if let (Some(target), Some(depth)) = (
        schema.get("$ref").and_then(Value::as_str),
        depth.checked_sub(1),
    ) {
        return may_admit_type(root, target, kind, depth);
    }
    match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => schema.get("const").is_none() && schema.get("enum").is_none(),
    }
}

/// The one subschema that speaks of a member or an element; `None` if none or several do.
pub(super) fn child_subschema_path(
    root: &Value,
    place: &str,
    child: Result<&String, usize>,
) -> Option<String> {
    let mut places = Vec::new();
    collect_same_value_paths(
        root,
        place,
        Some(if child.is_ok() { "object" } else { "array" }),
        &mut places,
    );
    let mut found: Option<String> = None;
    for place in places {
        let schema = subschema_at(root, &place)?;
        let here = match child {
            Ok(key)
                if schema
                    .get("properties")
                    .is_some_and(|known| known.get(key).is_some()) =>
            {
                child_pointer(&place, "properties", key)
            }
            // Whether a pattern covers the key is for the validator alone to say.
            Ok(_) if schema.get("patternProperties").is_some() => return None,
            Ok(_) if schema.get("additionalProperties").is_some() => {
                format!("{place}/additionalProperties")
            }
            Err(at)
                if schema
                    .get("prefixItems")
                    .is_some_and(|items| items.get(at).is_some()) =>
            {
                format!("{place}/prefixItems/{at}")
            }
            Err(_) if schema.get("items").is_some() => format!("{place}/items"),
            _ => continue,
        };
        if found.replace(here).is_some() {
            return None;
        }
    }
    found
}

/// The texts that an enum at this place lists.
pub(super) fn enum_strings<'s>(root: &'s Value, place: &str) -> Vec<&'s str> {
    let mut places = Vec::new();
    collect_same_value_paths(root, place, None, &mut places);
    let listed = places
        .iter()
        .filter_map(|place| subschema_at(root, place))
        .flat_map(|schema| {
            let many = schema
                .get("enum")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            many.chain(schema.get("const"))
        });
    listed.filter_map(Value::as_str).collect()
}

/// The kinds of value that `type` names at this place, alternatives included.
pub(super) fn type_names<'s>(root: &'s Value, place: &str) -> Vec<&'s str> {
    let mut places = Vec::new();
    collect_same_value_paths(root, place, None, &mut places);
    let named = places
        .iter()
        .filter_map(|place| subschema_at(root, place)?.get("type"));
    named
        .flat_map(|kind| {
            kind.as_array()
                .map_or(std::slice::from_ref(kind), Vec::as_slice)
        })
        .filter_map(Value::as_str)
        .collect()
}
