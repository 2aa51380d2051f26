//! Replaces `unevaluatedProperties` and `unevaluatedItems`, which depend on what other subschemas evaluate.

use serde_json::Value;

use super::sentences::describe_value;
use super::{admits_anything, admits_nothing, take_unsupported};
use crate::lower::pass::all_of::SAME_VALUE_KEYWORDS;
use crate::lower::{JsonObject, KeywordLookup, SchemaCursor};

/// Where nothing else evaluates properties, the unevaluated ones are the additional ones.
pub(super) fn resolve_unevaluated_properties(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
) {
    let elsewhere = evaluates_properties(members);
    let keywords = ("unevaluatedProperties", "additionalProperties");
    resolve(members, cursor, keywords, elsewhere, ("property", "properties"));
}

/// The same for items.
pub(super) fn resolve_unevaluated_items(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let elsewhere =
        members.has_keyword("contains") || members.has_any_keyword(&SAME_VALUE_KEYWORDS);
    resolve(members, cursor, ("unevaluatedItems", "items"), elsewhere, ("item", "items"));
}

fn resolve(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    (unevaluated, additional): (&str, &str),
    elsewhere: bool,
    (one, many): (&str, &str),
) {
    let Some(rest) = take_unsupported(members, cursor, unevaluated) else {
        return;
    };
    if admits_anything(&rest) || members.has_keyword(additional) {
        return;
    }
    if !elsewhere {
        members.set_keyword(additional, rest);
        return;
    }
    let text = match admits_nothing(&rest) {
        true => format!("no other {many}"),
        false => format!("each other {one} is {}", describe_value(&rest)),
    };
    cursor.move_to_description(members, unevaluated, text);
}

/// Returns true if a subschema for the same value may evaluate properties.
fn evaluates_properties(schema: &JsonObject) -> bool {
    schema.iter().any(|(keyword, value)| {
        let same_value =
            |keyword| keyword == "$recursiveRef" || SAME_VALUE_KEYWORDS.contains(&keyword);
        same_value(keyword.as_str())
            && match (keyword.as_str(), value) {
                ("dependentSchemas", Value::Object(named)) => named.values().any(names_properties),
                (_, Value::Array(list)) => list.iter().any(names_properties),
                (_, subschema) => names_properties(subschema),
            }
    })
}

/// Returns true if a schema declares properties, directly or in a subschema.
fn names_properties(schema: &Value) -> bool {
    const PROPERTY_KEYWORDS: [&str; 4] =
        ["additionalProperties", "patternProperties", "properties", "unevaluatedProperties"];
    match schema {
        Value::Object(members) => {
            members.has_any_keyword(&PROPERTY_KEYWORDS) || evaluates_properties(members)
        }
        // A boolean evaluates nothing; the target of a reference is unknown here.
        other => !other.is_boolean(),
    }
}
