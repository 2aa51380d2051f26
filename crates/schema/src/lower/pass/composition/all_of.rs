//! Merges `allOf` into one equivalent schema.

mod merge;

use serde_json::Value;

use super::one_of::are_disjoint;
use crate::lower::pass::applies_to::{has_no_assertions, is_assertion};
use crate::lower::{JsonObject, KeywordLookup, LowerError, LoweringState, SchemaCursor};

pub(crate) use merge::{SchemaMerger, UNEVALUATED_KEYWORDS, never_schema};

/// Keywords whose subschemas apply to the same value.
pub(crate) const SAME_VALUE_KEYWORDS: [&str; 9] =
    ["$dynamicRef", "$ref", "allOf", "anyOf", "dependentSchemas", "else", "if", "oneOf", "then"];

/// How often merging is repeated for `allOf` that came from inlined references.
const MAX_ROUNDS: usize = 4;

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["allOf", "unevaluatedItems", "unevaluatedProperties"]) {
        return Ok(());
    }
    for _ in 0..MAX_ROUNDS {
        let mut found_ref = false;
        let definitions = state.schema.keyword("$defs").cloned().unwrap_or_default();
        state.visit_bottom_up(|members, cursor| {
            if members.has_keyword("allOf") {
                merge_all_of(members, cursor, &definitions);
                found_ref = true;
            }
            if members.has_any_keyword(&UNEVALUATED_KEYWORDS) {
                resolve_unevaluated(members);
            }
        });
        state.invalidate_keywords();
        if found_ref {
            state.check_size()?;
        }
        if !found_ref || definitions.is_null() {
            break;
        }
    }
    Ok(())
}

/// Merges the schemas of an `allOf` into the schema that contains it.
fn merge_all_of(schema: &mut JsonObject, cursor: &mut SchemaCursor<'_>, definitions: &Value) {
    let Some(Value::Array(subschemas)) = schema.remove_keyword("allOf") else {
        return;
    };
    // Unevaluated properties are resolved after everything that evaluates them has been merged.
    let unevaluated = UNEVALUATED_KEYWORDS.map(|keyword| (keyword, schema.remove_keyword(keyword)));
    let mut merge = SchemaMerger::new(definitions);
    let mut whole = schema.clone();
    for subschema in subschemas.iter().filter_map(Value::as_object) {
        if has_no_assertions(&whole) {
            let annotations = std::mem::replace(&mut whole, subschema.clone());
            whole = with_annotations(whole, annotations);
        } else {
            whole = merge.merge(whole, subschema.clone());
        }
    }
    let keeps = cursor.rules.keywords.is_none_or(|kept| kept.contains(&"allOf"));
    if !merge.conflicts.is_empty() && keeps {
        schema.set_keyword("allOf", Value::Array(subschemas));
    } else {
        merge.drop_conflicts(&mut whole, cursor);
        *schema = whole;
    }
    for (keyword, value) in unevaluated {
        if let Some(value) = value {
            schema.set_keyword(keyword, value);
        }
    }
}

/// Adds annotations to a schema; a reference gets a wrapper, because it may have no siblings.
pub(crate) fn with_annotations(mut schema: JsonObject, annotations: JsonObject) -> JsonObject {
    if schema.has_keyword("$ref") && !annotations.is_empty() {
        let mut wrapped = annotations;
        wrapped.set_keyword("anyOf", Value::Array(vec![Value::Object(schema)]));
        return wrapped;
    }
    schema.extend(annotations);
    schema
}

/// Without other subschemas for the same value, unevaluated properties or items are the additional ones.
pub(crate) fn resolve_unevaluated(schema: &mut JsonObject) {
    if schema.is_false("unevaluatedProperties") && !schema.has_keyword("additionalProperties") {
        distribute_closing(schema);
    }
    if schema.has_any_keyword(&SAME_VALUE_KEYWORDS) {
        return;
    }
    move_keyword(schema, "unevaluatedProperties", "additionalProperties");
    if !schema.has_keyword("contains") {
        move_keyword(schema, "unevaluatedItems", "items");
    }
}

/// Renames a keyword; the value of one that is present already stays.
pub(crate) fn move_keyword(schema: &mut JsonObject, from: &str, to: &str) {
    if let Some(value) = schema.remove_keyword(from)
        && !schema.has_keyword(to)
    {
        schema.set_keyword(to, value);
    }
}

/// Moves the properties of a closed object into each of its alternatives, which are then closed themselves.
///
/// Exact if the alternatives are disjoint, because then only one of them evaluates properties.
fn distribute_closing(schema: &mut JsonObject) {
    let in_place: Vec<&str> =
        SAME_VALUE_KEYWORDS.into_iter().filter(|keyword| schema.has_keyword(keyword)).collect();
    if in_place != ["oneOf"] {
        return;
    }
    let Some(branches) = schema.list("oneOf") else {
        return;
    };
    let plain = |branch: &Value| {
        branch.is_object()
            && !branch.has_any_keyword(&SAME_VALUE_KEYWORDS)
            && !branch.has_keyword("unevaluatedProperties")
            && (branch.is_false("additionalProperties")
                || !branch.has_keyword("additionalProperties"))
    };
    // Closing the alternatives could separate those that overlap, and accept what `oneOf` rejected.
    if !branches.iter().all(plain) || !are_disjoint(branches, schema) {
        return;
    }
    let mut base = schema.clone();
    base.retain(|keyword, _| {
        is_assertion(keyword) && keyword != "oneOf" && keyword != "unevaluatedProperties"
    });
    let mut merge = SchemaMerger::new(&Value::Null);
    let closed: Vec<Value> = branches
        .iter()
        .filter_map(Value::as_object)
        .map(|branch| {
            let mut both = merge.merge(branch.clone(), base.clone());
            both.entry("additionalProperties").or_insert(Value::Bool(false));
            Value::Object(both)
        })
        .collect();
    if merge.conflicts.is_empty() {
        schema.retain(|keyword, _| !is_assertion(keyword));
        schema.set_keyword("oneOf", Value::Array(closed));
    }
}
