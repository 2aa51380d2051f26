//! Rewrites conditions between values (`if`, `not`, `dependentRequired` …) into other keywords or the description.
//!
//! All of these only reject values, so that dropping one makes the schema wider; the description explains it instead.
//! Schemas in `not` and `if` invert that, so they are rewritten as a whole and never visited.

mod arrays;
mod negations;
mod objects;
mod sentences;
mod unevaluated;

use serde_json::Value;

use crate::lower::pass::applies_to::has_no_assertions;
use crate::lower::pass::booleans::never_valid_error;
use crate::lower::pass::constants::make_unsatisfiable;
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState, SchemaCursor, Severity,
};

pub(crate) use objects::any_of;
pub(crate) use sentences::describe_value;

/// More entries of one keyword are not described.
const MAX_DESCRIBED: usize = 12;

/// Keywords that are always rewritten; others only if they contain a schema that is never valid, which is a `not` or a
/// boolean.
const CONDITION_KEYWORDS: [&str; 18] = [
    "contains", "dependencies", "dependentRequired", "dependentSchemas", "else", "if",
    "maxContains", "maxProperties", "minContains", "minProperties", "not", "oneOf",
    "patternProperties", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    "uniqueItems",
];

/// Keywords that this pass may write.
const WRITTEN_KEYWORDS: [&str; 6] =
    ["additionalProperties", "anyOf", "enum", "items", "maxItems", "minItems"];

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if admits_nothing(&state.schema) {
        return Err(never_valid_error());
    }
    if !state.contains_any(
        KeywordSet::from_keywords(&CONDITION_KEYWORDS).union(KeywordSet::BOOLEAN_SCHEMA),
    ) {
        return Ok(());
    }
    let mut copied = false;
    state.visit_top_down(|members, cursor| {
        if members.iter().any(|(keyword, value)| is_condition(keyword, value)) {
            copied |= rewrite_conditions(members, cursor);
        }
    });
    state.note_added_keywords(
        KeywordSet::NON_SCHEMA_ITEMS
            .union(KeywordSet::NULL_TYPE)
            .union(KeywordSet::from_keywords(&WRITTEN_KEYWORDS)),
    );
    if copied { state.check_size() } else { Ok(()) }
}

/// Returns true if a schema is `false`, or has a `not` that every value matches.
pub(crate) fn admits_nothing(schema: &Value) -> bool {
    match schema {
        Value::Bool(flag) => !flag,
        schema => schema.keyword("not").is_some_and(admits_anything),
    }
}

/// Returns true if every value is valid.
pub(crate) fn admits_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(flag) => *flag,
        Value::Object(members) => has_no_assertions(members),
        _ => false,
    }
}

/// Returns true if a keyword has to be rewritten.
fn is_condition(keyword: &str, value: &Value) -> bool {
    match keyword {
        // The most frequent keywords.
        "type" | "description" => false,
        "additionalItems" | "additionalProperties" | "items" => {
            value.is_object() && admits_nothing(value)
        }
        "anyOf" | "prefixItems" => {
            value.as_array().is_some_and(|subschemas| subschemas.iter().any(admits_nothing))
        }
        "properties" => {
            value.as_object().is_some_and(|subschemas| subschemas.values().any(admits_nothing))
        }
        keyword => CONDITION_KEYWORDS.contains(&keyword),
    }
}

/// Returns true if schemas were copied.
fn rewrite_conditions(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) -> bool {
    // First the keywords that depend on others, and schemas that are never valid: a branch must keep its `not` until its
    // parent was rewritten.
    unevaluated::resolve_unevaluated_properties(members, cursor);
    unevaluated::resolve_unevaluated_items(members, cursor);
    prune_unsatisfiable(members);
    negations::remove_unsatisfiable_properties(members, cursor);
    negations::rewrite_not(members, cursor);
    negations::describe_if_then_else(members, cursor);
    negations::describe_second_union(members, cursor);
    objects::rewrite_dependencies(members, cursor);
    let copied = objects::rewrite_property_names(members, cursor);
    objects::rewrite_pattern_properties(members, cursor);
    objects::describe_property_counts(members, cursor);
    arrays::describe_contains(members, cursor);
    arrays::describe_unique_items(members, cursor);
    copied
}

/// Removes alternatives and elements that are never valid.
fn prune_unsatisfiable(members: &mut JsonObject) {
    for keyword in ["additionalItems", "additionalProperties", "items"] {
        if let Some(subschema @ Value::Object(_)) = members.keyword_mut(keyword)
            && admits_nothing(subschema)
        {
            *subschema = Value::Bool(false);
        }
    }
    if let Some(Value::Array(branches)) = members.keyword_mut("anyOf") {
        branches.retain(|branch| !admits_nothing(branch));
        if branches.is_empty() {
            make_unsatisfiable(members);
            return;
        }
    }
    arrays::end_before_unsatisfiable(members);
}

/// Removes a keyword, unless the dialect supports it.
fn take_unsupported(
    members: &mut JsonObject,
    cursor: &SchemaCursor<'_>,
    keyword: &str,
) -> Option<Value> {
    if cursor.rules.allows_keyword(keyword) { None } else { members.remove_keyword(keyword) }
}

/// Drops the meaning of a keyword; the first few sentences go to the description.
fn describe_loss(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    keyword: &str,
    all: Vec<String>,
) {
    let more = all.len() > MAX_DESCRIBED;
    for words in all.into_iter().take(MAX_DESCRIBED) {
        cursor.move_to_description(members, keyword, words);
    }
    if more {
        cursor.report_loss(keyword, Severity::Wider, None);
    }
}

/// A non-negative integer; `2.0` counts too.
pub(crate) fn as_count(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0);
    value.as_u64().or_else(|| float().map(|float| float as u64))
}

/// Raises a lower bound.
fn raise_minimum(members: &mut JsonObject, keyword: &str, min: u64) {
    if members.keyword(keyword).and_then(as_count).is_none_or(|current| current < min) {
        members.set_keyword(keyword, Value::from(min));
    }
}

/// Lowers an upper bound.
pub(crate) fn lower_maximum(members: &mut JsonObject, keyword: &str, max: u64) {
    if members.keyword(keyword).and_then(as_count).is_none_or(|current| current > max) {
        members.set_keyword(keyword, Value::from(max));
    }
}
