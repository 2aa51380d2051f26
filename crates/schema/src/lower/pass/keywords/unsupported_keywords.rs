//! Removes keywords that a dialect does not support; those that can make a value invalid are described.

use serde_json::Value;

use super::applies_to::is_assertion;
use super::describe::{describe_keyword, describe_schema};
use crate::lower::pass::all_of::{SAME_VALUE_KEYWORDS, move_keyword};
use crate::lower::pass::conditions::admits_anything;
use crate::lower::pass::formats;
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LIFT_KEYWORD, LowerError, LoweringState, SchemaCursor,
    Severity, SubschemaShape, append_to_description, subschema_shape,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    state.visit_top_down(drop_unsupported);
    state.note_added_keywords(KeywordSet::from_keywords(&["additionalProperties"]));
    Ok(())
}

/// Removes all unsupported keywords of one schema.
pub(crate) fn drop_unsupported(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let rules = cursor.rules;
    drop_keywords(members, cursor, |keyword| {
        keyword == LIFT_KEYWORD || rules.allows_keyword(keyword)
    });
}

/// Removes unsupported keywords that contain schemas, before those schemas are rewritten.
pub(crate) fn drop_unsupported_subschemas(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let rules = cursor.rules;
    drop_keywords(members, cursor, |keyword| {
        subschema_shape(keyword) == SubschemaShape::NotASchema || rules.allows_keyword(keyword)
    });
}

fn drop_keywords(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    takes: impl Fn(&str) -> bool,
) {
    if members.keys().all(|keyword| takes(keyword)) {
        return;
    }
    let misled = dependents_of_dropped(members, &takes);
    let map = !members.has_keyword("properties") && !members.has_keyword("patternProperties");
    let tuple = members.has_keyword("prefixItems");
    let mut gone: Vec<(String, Value)> = Vec::new();
    members.retain(|keyword, value| {
        let stays = takes(keyword) && !misled.contains(&keyword.as_str());
        if !stays && is_assertion(keyword) && constrains(keyword, value) {
            gone.push((keyword.clone(), value.take()));
        }
        stays
    });
    // One pair of brackets in the description, one loss per keyword.
    let mut text = String::new();
    for (keyword, value) in gone {
        let spilled = match keyword.as_str() {
            "format" => {
                formats::move_format_to_description(members, &value, cursor);
                continue;
            }
            "additionalProperties" | "unevaluatedProperties" if value == false => {
                cursor.report_opened_object(&keyword);
                continue;
            }
            "additionalProperties" if map && value.is_object() => {
                Some(format!("each property is {}", describe_schema(&value)))
            }
            "items" if tuple => describe_keyword("additionalItems", &value),
            keyword => describe_keyword(keyword, &value),
        };
        if let Some(description) = &spilled {
            text.push_str(if text.is_empty() { "" } else { "; " });
            text.push_str(description);
        }
        cursor.report_loss(&keyword, Severity::Wider, spilled);
    }
    if !text.is_empty() {
        append_to_description(members, &text);
    }
}

/// The supported keywords that depend on a dropped one and would reject too much without it.
fn dependents_of_dropped(
    members: &mut JsonObject,
    takes: &impl Fn(&str) -> bool,
) -> Vec<&'static str> {
    let mut misled = Vec::new();
    if members.has_keyword("unevaluatedProperties") && !takes("unevaluatedProperties") {
        resolve_unevaluated_properties(members);
    }
    let going = |keyword: &str| members.keyword(keyword).filter(|_| !takes(keyword));
    if going("patternProperties").is_some_and(|value| *value != Value::Object(JsonObject::new())) {
        misled.push("additionalProperties");
    }
    if going("prefixItems").is_some() {
        misled.push("items");
    }
    if going("minContains").and_then(Value::as_f64) == Some(0.0) {
        members.remove_keyword("minContains");
        members.remove_keyword("contains");
    }
    misled
}

/// Where nothing else evaluates properties, the unevaluated ones are the additional ones.
pub(crate) fn resolve_unevaluated_properties(members: &mut JsonObject) {
    if !members.has_keyword("not") && !members.has_any_keyword(&SAME_VALUE_KEYWORDS) {
        move_keyword(members, "unevaluatedProperties", "additionalProperties");
    }
}

/// Returns true if the keyword rejects any value.
pub(crate) fn constrains(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minItems" | "minLength" | "minProperties" => value.as_f64() != Some(0.0),
        "uniqueItems" => *value != Value::Bool(false),
        "additionalItems"
        | "additionalProperties"
        | "else"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => !admits_anything(value),
        "allOf" | "items" | "prefixItems" => match value {
            Value::Array(subschemas) => !subschemas.iter().all(admits_anything),
            one => !admits_anything(one),
        },
        "dependentSchemas" | "patternProperties" | "properties" => {
            !value.as_object().is_some_and(|subschemas| subschemas.values().all(admits_anything))
        }
        "dependentRequired" => value.as_object().is_none_or(|names| !names.is_empty()),
        "required" => value.as_array().is_none_or(|names| !names.is_empty()),
        _ => true,
    }
}
