//! Replaces `const` by `enum`, and removes values that are never valid from every `enum`.

use std::collections::HashSet;

use jsonschema::json::cmp;
use serde_json::{Value, json};

use super::booleans::never_valid_error;
use crate::lower::pass::applies_to::is_assertion;
use crate::lower::{JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState};
use crate::type_set::TypeSet;

/// Shorter lists are compared pairwise.
const MAX_PAIRWISE_VALUES: usize = 16;

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["const", "enum"]) {
        return Ok(());
    }
    let mut possible = true;
    let mut added = KeywordSet::from_keywords(&["enum"]);
    state.visit_top_down(|members, cursor| {
        if !members.keys().any(|keyword| keyword == "const" || keyword == "enum") {
            return;
        }
        if !simplify_enum(members) {
            possible &= !cursor.path.is_root();
            added = added.union(KeywordSet::from_keywords(&["not"]));
        }
        if members.text("type") == Some("null") {
            added = added.union(KeywordSet::NULL_TYPE);
        }
    });
    state.note_added_keywords(added);
    if possible { Ok(()) } else { Err(never_valid_error()) }
}

/// Simplifies `const` and `enum` of one schema; returns true if any value is left.
pub(crate) fn simplify_enum(members: &mut JsonObject) -> bool {
    let only = members.remove_keyword("const");
    let listed = match members.keyword_mut("enum") {
        Some(Value::Array(values)) => Some(std::mem::take(values)),
        _ => None,
    };
    let mut values = match (only, listed) {
        (Some(only), Some(listed)) if listed.iter().any(|value| cmp::equal(value, &only)) => {
            vec![only]
        }
        (Some(_), Some(_)) => Vec::new(),
        (Some(only), None) => vec![only],
        (None, Some(listed)) => listed,
        (None, None) => return true,
    };
    let admitted = members.keyword("type").map_or(TypeSet::ALL, TypeSet::from_type_keyword);
    values.retain(|value| admitted.intersects(TypeSet::type_of(value)));
    deduplicate(&mut values);
    if values.is_empty() {
        make_unsatisfiable(members);
        return false;
    }
    if !members.keyword("type").is_some_and(Value::is_string) {
        let types =
            values.iter().fold(TypeSet::NONE, |all, value| all.union(TypeSet::type_of(value)));
        // Fractions have no type of their own; the list of values decides anyway.
        let types =
            if types.intersects(TypeSet::FRACTION) { types.union(TypeSet::INTEGER) } else { types };
        if let Some(json_type) = types.to_type_keyword() {
            members.set_keyword("type", json_type);
        }
    }
    members.set_keyword("enum", Value::Array(values));
    true
}

/// Leaves only annotations and the fact that no value is valid.
pub(crate) fn make_unsatisfiable(members: &mut JsonObject) {
    members.retain(|keyword, _| !is_assertion(keyword));
    members.set_keyword("not", json!({}));
}

fn deduplicate(values: &mut Vec<Value>) {
    if values.len() > MAX_PAIRWISE_VALUES {
        // `1` and `1.0` both stay, which does no harm.
        let mut seen = HashSet::new();
        values.retain(|value| seen.insert(value.to_string()));
        return;
    }
    let mut at = 1;
    while let Some(value) = values.get(at) {
        if values.iter().take(at).any(|other| cmp::equal(other, value)) {
            values.remove(at);
        } else {
            at += 1;
        }
    }
}
