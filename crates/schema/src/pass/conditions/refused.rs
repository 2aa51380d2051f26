//! What must not be: `not`, `if` … `then` … `else`, and properties that no value fits.

use std::collections::HashSet;

use jsonschema::json::cmp;
use serde_json::{Map, Value, json};

use super::phrase::{clause, demand, names, noun, values};
use super::{is_anything, is_nothing, required, take, tell};
use crate::lower::{Lookup, LookupMut, Spot};
use crate::pass::constants::kinds::Kinds;
use crate::pass::constants::settle;
use crate::pass::subject::asserts;

/// Longer lists are not compared value by value.
const MOST_COMPARED: usize = 1 << 20;

/// Takes out properties that no value fits: they need not be offered.
pub(super) fn properties(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let parts = members.find("properties").and_then(Value::as_object);
    if !parts.is_some_and(|parts| parts.values().any(is_nothing)) {
        return;
    }
    let needed: HashSet<String> = required(members).map(str::to_owned).collect();
    let closed = members.find("additionalProperties") == Some(&Value::Bool(false))
        && !members.has("patternProperties");
    let mut forbidden = Vec::new();
    if let Some(Value::Object(properties)) = members.find_mut("properties") {
        properties.retain(|name, part| {
            let stays = !is_nothing(part) || needed.contains(name);
            if !stays {
                forbidden.push(format!("`{name}` must not be given"));
            }
            stays
        });
    }
    if !closed {
        tell(members, spot, "not", forbidden);
    }
}

/// Narrows the type or the list of values where that says all of a `not`.
pub(super) fn not(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let Some(not) = take(members, spot, "not") else {
        return;
    };
    let single = std::slice::from_ref(&not);
    let each = match asserted(&not).as_slice() {
        ["anyOf"] => not
            .find("anyOf")
            .and_then(Value::as_array)
            .map_or(single, Vec::as_slice),
        _ => single,
    };
    for refused in each {
        let possible = match asserted(refused).as_slice() {
            [] if is_nothing(refused) => true,
            [] => false,
            ["type"] => of_type(members, spot, refused),
            ["enum" | "const"] | ["type", "enum" | "const"] | ["enum" | "const", "type"] => {
                listed(members, spot, refused)
            }
            ["not"] if is_nothing(refused) => true,
            _ => {
                let words = in_words(refused);
                spot.spill(members, "not", words);
                true
            }
        };
        if !possible {
            members.retain(|keyword, _| !asserts(keyword));
            spot.spill(members, "not", "must not be given".to_owned());
            return;
        }
    }
}

/// The keywords of a schema that take part in its verdict.
fn asserted(schema: &Value) -> Vec<&str> {
    let keywords = schema.as_object().into_iter().flat_map(Map::keys);
    keywords
        .map(String::as_str)
        .filter(|keyword| asserts(keyword))
        .collect()
}

/// Refuses a type; returns whether any value is left.
fn of_type(members: &mut Map<String, Value>, spot: &mut Spot<'_>, refused: &Value) -> bool {
    let kinds = refused.find("type").map_or(Kinds::NONE, Kinds::named);
    if let Some(Value::Array(values)) = members.find_mut("enum") {
        values.retain(|value| !kinds.has(Kinds::of(value)));
        return settle(members);
    }
    let left = members
        .find("type")
        .map(|kind| (Kinds::named(kind), Kinds::named(kind).without(kinds)));
    match left {
        Some((before, left)) if before == left => {}
        Some((_, left)) if left.is_empty() => return false,
        Some((_, left)) if let Some(kind) = left.as_type() => {
            members.put("type", kind);
        }
        _ => spot.spill(members, "not", in_words(refused)),
    }
    true
}

/// Refuses values; returns whether any other is left.
fn listed(members: &mut Map<String, Value>, spot: &mut Spot<'_>, refused: &Value) -> bool {
    let mut refused = refused.as_object().cloned().unwrap_or_default();
    let Some(Value::Array(mut others)) = settle(&mut refused)
        .then(|| refused.take_out("enum"))
        .flatten()
    else {
        return true;
    };
    if let Some(Value::Array(values)) = members.find_mut("enum")
        && values.len().saturating_mul(others.len()) <= MOST_COMPARED
    {
        values.retain(|value| !others.iter().any(|other| cmp::equal(value, other)));
        return settle(members);
    }
    if let Some(kind) = members.find("type") {
        let mut kinds = Kinds::named(kind);
        let has = |value: Value| others.contains(&value);
        let mut whole = Kinds::NONE;
        if has(Value::Null) {
            whole = whole.or(Kinds::NULL);
        }
        if has(Value::Bool(true)) && has(Value::Bool(false)) {
            whole = whole.or(Kinds::BOOLEAN);
        }
        if kinds.has(whole) {
            kinds = kinds.without(whole);
            match kinds.as_type() {
                Some(kind) => members.put("type", kind),
                None => return false,
            };
        }
        others.retain(|value| kinds.has(Kinds::of(value)));
    }
    if !others.is_empty() {
        spot.spill(members, "not", format!("not {}", values(&others)));
    }
    true
}

fn in_words(refused: &Value) -> String {
    let list = refused.find("required").and_then(Value::as_array);
    match (asserted(refused).as_slice(), list.map(Vec::as_slice)) {
        (["required"], Some([Value::String(name)])) => format!("`{name}` must not be given"),
        (["required"], Some(several)) => {
            let several = several.iter().filter_map(Value::as_str);
            format!("not {} together", names(several))
        }
        (keywords, _) if keywords.contains(&"properties") || keywords.contains(&"required") => {
            format!("never so that {}", clause(refused))
        }
        _ => format!("not {}", noun(refused)),
    }
}

/// `if` … `then` … `else`.
pub(super) fn cases(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let [test, then, other] = ["if", "then", "else"].map(|keyword| take(members, spot, keyword));
    let Some(test) = test else {
        return;
    };
    let then = then.filter(|part| !is_anything(part) && !is_nothing(&test));
    let other = other.filter(|part| !is_anything(part) && !is_anything(&test));
    let case = clause(&test);
    let words = match (then, other) {
        (None, None) => return,
        (Some(always), None) if is_anything(&test) => demand(&always),
        (None, Some(always)) if is_nothing(&test) => demand(&always),
        (Some(then), None) if is_nothing(&then) => format!("never so that {case}"),
        (Some(then), None) => format!("if {case}, then {}", demand(&then)),
        (None, Some(other)) if is_nothing(&other) => format!("always so that {case}"),
        (None, Some(other)) => format!("unless {case}, {}", demand(&other)),
        (Some(then), Some(other)) => {
            format!(
                "if {case}, then {}; otherwise {}",
                demand(&then),
                demand(&other)
            )
        }
    };
    spot.spill(members, "if", words);
}

/// A `oneOf` that could not be joined with the `anyOf` beside it.
pub(super) fn second_union(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    if let Some(branches) = take(members, spot, "oneOf") {
        let words = format!("exactly one of: {}", noun(&json!({"anyOf": branches})));
        spot.spill(members, "oneOf", words);
    }
}
