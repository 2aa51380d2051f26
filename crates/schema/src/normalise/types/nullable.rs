//! Replaces OpenAPI's `nullable` by the type `null`.

use serde_json::{Value, json};

use crate::lower::KeywordLookup;
use crate::normalise::{JsonObject, Normaliser};

/// Keywords that stay outside when a schema becomes a branch of a union: annotations, and targets of references.
const KEPT_OUTSIDE_UNION: [&str; 15] = [
    "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples",
    "example", "$comment", "$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions",
];

/// Keywords that reject `null` even without a `type`.
const NULL_REJECTING_KEYWORDS: [&str; 7] =
    ["$ref", "$dynamicRef", "allOf", "oneOf", "const", "not", "if"];

/// Allows `null` if `nullable` is true.
pub(crate) fn replace_nullable(normaliser: &mut Normaliser, members: &mut JsonObject) {
    let Some(nullable) = members.shift_remove("nullable") else {
        return;
    };
    if nullable != true {
        normaliser.add_fix("`nullable: false` dropped");
        return;
    }
    let typed = members.contains_key("type");
    if !typed && members.has_any_keyword(&NULL_REJECTING_KEYWORDS) {
        wrap_in_nullable_union(members);
    } else {
        add_null_type(members);
    }
    normaliser.add_fix("`nullable: true` read as: null is admitted");
}

fn add_null_type(members: &mut JsonObject) {
    match members.get_mut("type") {
        Some(Value::Array(words)) => push_unique(words, json!("null")),
        Some(word) if *word != "null" => *word = json!([word.take(), "null"]),
        _ => {}
    }
    if let Some(Value::Array(options)) = members.get_mut("enum") {
        push_unique(options, Value::Null);
    }
    if let Some(Value::Array(branches)) = members.get_mut("anyOf") {
        push_unique(branches, json!({"type": "null"}));
    }
}

fn push_unique(list: &mut Vec<Value>, one: Value) {
    if !list.contains(&one) {
        list.push(one);
    }
}

fn wrap_in_nullable_union(members: &mut JsonObject) {
    let whole = std::mem::take(members);
    let (outside, inside): (JsonObject, JsonObject) =
        whole.into_iter().partition(|(keyword, _)| {
            KEPT_OUTSIDE_UNION.contains(&keyword.as_str()) || keyword.starts_with("x-")
        });
    *members = outside;
    members.insert("anyOf".to_owned(), json!([inside, {"type": "null"}]));
}
