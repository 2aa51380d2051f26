//! A check that accepts most schemas of tools without compiling them, which takes a hundred times as long.
//!
//! It knows the frequent keywords and the plain forms of their values, in which drafts 7 and 2020-12 agree. A schema with anything
//! else is compiled, so that the compiler alone decides what is rejected and why.

use serde_json::Value;

use crate::lower::KeywordLookup;
use crate::type_set::TypeSet;

const KNOWN_DRAFTS: [&str; 3] = [
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-07/schema#",
];

/// Returns true if a schema certainly compiles; false if only compiling it can tell.
pub(super) fn certainly_compiles(root: &Value) -> bool {
    let draft = root.keyword("$schema");
    draft.is_none_or(|draft| draft.as_str().is_some_and(|name| KNOWN_DRAFTS.contains(&name)))
        && is_plain_schema(root, root, true)
}

fn is_plain_schema(schema: &Value, root: &Value, is_root: bool) -> bool {
    match schema {
        Value::Bool(_) => true,
        Value::Object(keywords) => keywords.iter().all(|(keyword, value)| match keyword.as_str() {
            "$schema" | "$defs" | "definitions" if !is_root => false,
            "$schema" => true,
            _ => is_plain_keyword(keyword, value, root),
        }),
        _ => false,
    }
}

fn is_plain_keyword(keyword: &str, value: &Value, root: &Value) -> bool {
    let is_subschema = |value: &Value| is_plain_schema(value, root, false);
    match keyword {
        "type" => match value {
            Value::String(name) => is_type_name(name),
            Value::Array(names) => !names.is_empty() && are_unique(names, is_type_name),
            _ => false,
        },
        "description" | "format" | "title" | "$comment" => value.is_string(),
        "const" | "default" => true,
        "enum" | "examples" => value.is_array(),
        "properties" | "$defs" | "definitions" => {
            value.as_object().is_some_and(|named| named.values().all(is_subschema))
        }
        "required" => value.as_array().is_some_and(|names| are_unique(names, |_| true)),
        "additionalProperties"
        | "items"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames" => is_subschema(value),
        "anyOf" | "allOf" | "oneOf" => value
            .as_array()
            .is_some_and(|branches| !branches.is_empty() && branches.iter().all(is_subschema)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|factor| factor > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.is_u64()
        }
        "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => value.is_boolean(),
        "$ref" => value.as_str().is_some_and(|target| is_definition(target, root)),
        _ => false,
    }
}

fn is_type_name(name: &str) -> bool {
    !TypeSet::from_name(name).is_empty()
}

/// Longer lists of names are not compared pairwise.
const MAX_NAMES: usize = 64;

/// Returns true if these are a few different strings that are all valid.
fn are_unique(names: &[Value], is_valid: impl Fn(&str) -> bool) -> bool {
    names.len() <= MAX_NAMES
        && names.iter().enumerate().all(|(at, name)| {
            name.as_str().is_some_and(&is_valid)
                && !names.iter().take(at).any(|other| other == name)
        })
}

/// Returns true if a reference leads to the root or a definition of it, by a name without escapes.
fn is_definition(target: &str, root: &Value) -> bool {
    let definition = |keyword: &str, name: &str| {
        !name.contains(['/', '~', '%'])
            && root.object(keyword).is_some_and(|all| all.contains_key(name))
    };
    match target.strip_prefix("#/").and_then(|path| path.split_once('/')) {
        Some((keyword @ ("$defs" | "definitions"), name)) => definition(keyword, name),
        _ => target == "#",
    }
}

#[cfg(test)]
mod tests;
