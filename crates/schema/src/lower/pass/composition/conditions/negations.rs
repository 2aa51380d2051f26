//! Negations: `not`, `if` … `then` … `else`, and properties that are never valid.

use std::collections::HashSet;

use jsonschema::json::cmp;
use serde_json::{Value, json};

use super::sentences::{
    describe_condition, describe_requirement, describe_value, describe_values, join_names,
};
use super::{admits_anything, admits_nothing, describe_loss, take_unsupported};
use crate::lower::pass::applies_to::is_assertion;
use crate::lower::pass::constants::simplify_enum;
use crate::lower::{JsonObject, KeywordLookup, SchemaCursor};
use crate::type_set::TypeSet;

/// Longer lists are not compared value by value.
const MAX_COMPARISONS: usize = 1 << 20;

/// Removes properties that are never valid.
pub(super) fn remove_unsatisfiable_properties(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
) {
    let subschemas = members.object("properties");
    if !subschemas.is_some_and(|subschemas| subschemas.values().any(admits_nothing)) {
        return;
    }
    let needed: HashSet<String> = members.required_names().map(str::to_owned).collect();
    let closed =
        members.is_false("additionalProperties") && !members.has_keyword("patternProperties");
    let mut forbidden = Vec::new();
    if let Some(Value::Object(properties)) = members.keyword_mut("properties") {
        properties.retain(|name, subschema| {
            let stays = !admits_nothing(subschema) || needed.contains(name);
            if !stays {
                forbidden.push(format!("`{name}` must not be given"));
            }
            stays
        });
    }
    if !closed {
        describe_loss(members, cursor, "not", forbidden);
    }
}

/// Narrows the type or the enum where that expresses all of a `not`.
pub(super) fn rewrite_not(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let Some(not) = take_unsupported(members, cursor, "not") else {
        return;
    };
    let single = std::slice::from_ref(&not);
    let each = match asserted_keywords(&not).as_slice() {
        ["anyOf"] => not.list("anyOf").unwrap_or(single),
        _ => single,
    };
    for excluded in each {
        let possible = match asserted_keywords(excluded).as_slice() {
            [] if admits_nothing(excluded) => true,
            [] => false,
            ["type"] => exclude_type(members, cursor, excluded),
            ["enum" | "const"] | ["type", "enum" | "const"] | ["enum" | "const", "type"] => {
                exclude_values(members, cursor, excluded)
            }
            ["not"] if admits_nothing(excluded) => true,
            _ => {
                let words = describe_negation(excluded);
                cursor.move_to_description(members, "not", words);
                true
            }
        };
        if !possible {
            members.retain(|keyword, _| !is_assertion(keyword));
            cursor.move_to_description(members, "not", "must not be given".to_owned());
            return;
        }
    }
}

/// The keywords of a schema that are assertions.
fn asserted_keywords(schema: &Value) -> Vec<&str> {
    let keywords = schema.as_object().into_iter().flat_map(JsonObject::keys);
    keywords.map(String::as_str).filter(|keyword| is_assertion(keyword)).collect()
}

/// Excludes types; returns true if any value remains valid.
fn exclude_type(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>, excluded: &Value) -> bool {
    let types = excluded.keyword("type").map_or(TypeSet::NONE, TypeSet::from_type_keyword);
    if let Some(Value::Array(values)) = members.keyword_mut("enum") {
        values.retain(|value| !types.intersects(TypeSet::type_of(value)));
        return simplify_enum(members);
    }
    let before = members.keyword("type").map(TypeSet::from_type_keyword);
    match before.map(|before| before.difference(types)) {
        remaining if remaining == before && before.is_some() => {}
        Some(remaining) if remaining.is_empty() => return false,
        Some(remaining) if let Some(json_type) = remaining.to_type_keyword() => {
            members.set_keyword("type", json_type);
        }
        _ => cursor.move_to_description(members, "not", describe_negation(excluded)),
    }
    true
}

/// Excludes values; returns true if any other remains valid.
fn exclude_values(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    excluded: &Value,
) -> bool {
    let mut excluded = excluded.as_object().cloned().unwrap_or_default();
    let Some(Value::Array(mut others)) =
        simplify_enum(&mut excluded).then(|| excluded.remove_keyword("enum")).flatten()
    else {
        return true;
    };
    if let Some(Value::Array(values)) = members.keyword_mut("enum")
        && values.len().saturating_mul(others.len()) <= MAX_COMPARISONS
    {
        values.retain(|value| !others.iter().any(|other| cmp::equal(value, other)));
        return simplify_enum(members);
    }
    if let Some(json_type) = members.keyword("type") {
        let mut types = TypeSet::from_type_keyword(json_type);
        let has = |value: Value| others.contains(&value);
        let mut whole = TypeSet::NONE;
        if has(Value::Null) {
            whole = whole.union(TypeSet::NULL);
        }
        if has(Value::Bool(true)) && has(Value::Bool(false)) {
            whole = whole.union(TypeSet::BOOLEAN);
        }
        if types.intersects(whole) {
            types = types.difference(whole);
            match types.to_type_keyword() {
                Some(json_type) => members.set_keyword("type", json_type),
                None => return false,
            };
        }
        others.retain(|value| types.intersects(TypeSet::type_of(value)));
    }
    if !others.is_empty() {
        cursor.move_to_description(members, "not", format!("not {}", describe_values(&others)));
    }
    true
}

fn describe_negation(excluded: &Value) -> String {
    match (asserted_keywords(excluded).as_slice(), excluded.list("required")) {
        (["required"], Some([Value::String(name)])) => format!("`{name}` must not be given"),
        (["required"], Some(_)) => {
            format!("not {} together", join_names(excluded.required_names()))
        }
        (keywords, _) if keywords.contains(&"properties") || keywords.contains(&"required") => {
            format!("never so that {}", describe_condition(excluded))
        }
        _ => format!("not {}", describe_value(excluded)),
    }
}

/// `if` … `then` … `else`.
pub(super) fn describe_if_then_else(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let [test, then, other] =
        ["if", "then", "else"].map(|keyword| take_unsupported(members, cursor, keyword));
    let Some(test) = test else {
        return;
    };
    let then = then.filter(|subschema| !admits_anything(subschema) && !admits_nothing(&test));
    let other = other.filter(|subschema| !admits_anything(subschema) && !admits_anything(&test));
    let case = describe_condition(&test);
    let words = match (then, other) {
        (None, None) => return,
        (Some(always), None) if admits_anything(&test) => describe_requirement(&always),
        (None, Some(always)) if admits_nothing(&test) => describe_requirement(&always),
        (Some(then), None) if admits_nothing(&then) => format!("never so that {case}"),
        (Some(then), None) => format!("if {case}, then {}", describe_requirement(&then)),
        (None, Some(other)) if admits_nothing(&other) => format!("always so that {case}"),
        (None, Some(other)) => format!("unless {case}, {}", describe_requirement(&other)),
        (Some(then), Some(other)) => {
            format!(
                "if {case}, then {}; otherwise {}",
                describe_requirement(&then),
                describe_requirement(&other)
            )
        }
    };
    cursor.move_to_description(members, "if", words);
}

/// A `oneOf` that could not be merged with the `anyOf` beside it.
pub(super) fn describe_second_union(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    if let Some(branches) = take_unsupported(members, cursor, "oneOf") {
        let words = format!("exactly one of: {}", describe_value(&json!({"anyOf": branches})));
        cursor.move_to_description(members, "oneOf", words);
    }
}
