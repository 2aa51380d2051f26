//! Makes a schema reject unknown properties.
//!
//! A dropped `dry_run` must never become a real run, so fields that serde would skip are rejected. Where an object is
//! composed of several schemas (`allOf`), each sees only its own properties: there only the outermost schema can be closed.

use serde_json::Value;

use crate::lower::{KeywordLookup, subschemas_of, subschemas_of_mut};
use crate::{JsonObject, escape_pointer_token, schema::violation::resolve_local_ref};

/// Keywords whose subschemas apply to the same value as the schema that contains them.
const SAME_VALUE_KEYWORDS: [&str; 8] =
    ["allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "$ref"];

/// Keywords that constrain properties.
const PROPERTY_KEYWORDS: [&str; 4] =
    ["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"];

/// Closes every struct-like object of a schema, so that an unknown property is invalid.
///
/// An object is struct-like if it has `properties`, directly or in a composed schema, and allows others.
pub fn close_objects(schema: &mut Value) {
    let mut shared = Vec::new();
    collect_shared_refs(schema, false, &mut shared);
    // References inside a shared definition are shared too.
    let mut next = 0;
    while let Some(name) = shared.get(next).cloned() {
        next += 1;
        if let Some(definition) = resolve_local_ref(schema, &Value::String(name)) {
            collect_shared_refs(definition, true, &mut shared);
        }
    }
    // Outside a composition the schema that refers to a shared definition has to close it.
    let reopened = |name: &str| {
        let target = resolve_local_ref(schema, &Value::from(name));
        target.and_then(Value::as_object).is_some_and(is_open_struct)
    };
    let shared: Vec<(String, bool)> =
        shared.into_iter().map(|name| (name.clone(), reopened(&name))).collect();
    close(schema, "#", false, &shared);
}

/// Collects the references that are composed with other properties.
fn collect_shared_refs(schema: &Value, composed: bool, shared: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        return;
    };
    let composed = composed || is_composed(object);
    if let (true, Some(Value::String(name))) = (composed, object.get("$ref"))
        && !shared.contains(name)
    {
        shared.push(name.clone());
    }
    for (keyword, value) in object {
        let in_place = composed && SAME_VALUE_KEYWORDS.contains(&keyword.as_str());
        if holds_closable(keyword, value) {
            subschemas_of(keyword, value)
                .for_each(|subschema| collect_shared_refs(subschema, in_place, shared));
        }
    }
}

fn close(schema: &mut Value, own_ref: &str, composed: bool, shared: &[(String, bool)]) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    let composed = composed || shared.iter().any(|(name, _)| name == own_ref);
    let composes = is_composed(object);
    let refers_to_open = matches!(object.get("$ref"), Some(Value::String(to)) if shared.iter().any(|(name, open)| name == to && *open));
    if !composed
        && (is_open_struct(object) || refers_to_open && has_no_additional_properties_rule(object))
    {
        let keyword = match composes || refers_to_open {
            true => "unevaluatedProperties",
            false => "additionalProperties",
        };
        object.insert(keyword.to_owned(), Value::Bool(false));
    }
    for (keyword, value) in object.iter_mut() {
        let in_place = (composed || composes) && SAME_VALUE_KEYWORDS.contains(&keyword.as_str());
        let named = matches!(keyword.as_str(), "$defs" | "definitions");
        match value {
            Value::Object(definitions) if named => {
                for (name, definition) in definitions {
                    let step = escape_pointer_token(name);
                    close(definition, &format!("#/{keyword}/{step}"), false, shared);
                }
            }
            _ if holds_closable(keyword, value) => subschemas_of_mut(keyword, value)
                .for_each(|subschema| close(subschema, "", in_place, shared)),
            _ => {}
        }
    }
}

fn is_open_struct(object: &JsonObject) -> bool {
    let named = |subschema: &Value| subschema.has_any_keyword(&["properties", "$ref", "oneOf"]);
    let composed_of_structs = || {
        SAME_VALUE_KEYWORDS.iter().filter(|keyword| **keyword != "if").any(|keyword| {
            object.get(*keyword).is_some_and(|value| subschemas_of(keyword, value).any(named))
        })
    };
    has_no_additional_properties_rule(object)
        && (object.contains_key("properties") || is_composed(object) && composed_of_structs())
}

fn has_no_additional_properties_rule(object: &JsonObject) -> bool {
    !object.has_any_keyword(&["additionalProperties", "unevaluatedProperties"])
}

/// Returns true if the properties come from more than one subschema.
fn is_composed(object: &JsonObject) -> bool {
    let own = usize::from(object.has_any_keyword(&PROPERTY_KEYWORDS));
    let in_place =
        SAME_VALUE_KEYWORDS.iter().filter(|keyword| object.contains_key(**keyword)).count();
    let several = object.list("allOf").is_some_and(|schemas| schemas.len() > 1);
    own + in_place + usize::from(several) > 1
}

/// Returns true if a keyword holds schemas that can be closed: not `not` and `if`, where that would invert the effect.
fn holds_closable(keyword: &str, value: &Value) -> bool {
    match keyword {
        "not" | "if" | "contains" | "contentSchema" | "propertyNames" => false,
        // Older drafts have a list of schemas there.
        "items" => !value.is_array(),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
