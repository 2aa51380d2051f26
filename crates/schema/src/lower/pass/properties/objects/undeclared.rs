//! Rewrites objects without declared properties: a map becomes an array of pairs, anything else JSON text.

use serde_json::{Value, json};

use super::AdditionalProperties;
use crate::lower::pass::applies_to::is_assertion;
use crate::lower::pass::describe::drop_keyword;
use crate::lower::pass::json_text;
use crate::lower::pass::unsupported_keywords::constrains;
use crate::lower::{
    JsonObject, KeywordLookup, LIFT_KEYWORD, LiftMark, SchemaCursor, add_lift_mark,
};

/// The other types that the same value may have.
#[derive(Clone, Copy, Default)]
pub(super) struct SiblingTypes {
    has_string: bool,
    has_array: bool,
}

/// The branches of a union, counted by their types.
#[derive(Default)]
pub(super) struct BranchTypeCounts {
    strings: usize,
    arrays: usize,
}

impl BranchTypeCounts {
    pub(super) fn add(&mut self, branch: &Value) {
        self.strings += usize::from(may_have_type(branch, "string"));
        self.arrays += usize::from(may_have_type(branch, "array"));
    }

    /// Removes one branch, and returns the types of the others.
    pub(super) fn siblings_of(&mut self, branch: &Value) -> SiblingTypes {
        self.strings -= usize::from(may_have_type(branch, "string"));
        self.arrays -= usize::from(may_have_type(branch, "array"));
        SiblingTypes { has_string: self.strings > 0, has_array: self.arrays > 0 }
    }
}

/// The target of a reference is unknown, so it may have any type.
fn may_have_type(branch: &Value, wanted: &str) -> bool {
    match branch.keyword("type") {
        Some(json_type) => json_type == wanted,
        None => branch.keyword("$ref").is_some(),
    }
}

pub(super) fn rewrite_undeclared(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    rest: &AdditionalProperties,
    siblings: SiblingTypes,
) {
    match rest {
        AdditionalProperties::Forbidden => rewrite_empty_object(members, cursor, siblings),
        AdditionalProperties::Constrained if !siblings.has_array => map_to_pairs(members, cursor),
        _ => json_text::describe_as_json_text(members, cursor),
    }
}

/// The object without properties.
fn rewrite_empty_object(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    siblings: SiblingTypes,
) {
    if cursor.rules.allows_empty_objects {
        return;
    }
    describe_other_keywords(members, cursor);
    if siblings.has_string {
        return json_text::describe_as_json_text(members, cursor);
    }
    json_text::replace_by_constant(members, json!({}));
}

/// A map as `[{"key": …, "value": …}]`.
fn map_to_pairs(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let value = members.remove_keyword("additionalProperties");
    let min = members.remove_keyword("minProperties");
    let max = members.remove_keyword("maxProperties");
    describe_other_keywords(members, cursor);
    members.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT_KEYWORD));
    members.set_keyword("type", json!("array"));
    let items = json!({
        "type": "object",
        "properties": {"key": {"type": "string"}, "value": value},
        "required": ["key", "value"],
        "additionalProperties": false,
    });
    members.set_keyword("items", items);
    if let Some(min) = min.filter(|min| min.as_f64() != Some(0.0)) {
        members.set_keyword("minItems", min);
    }
    if let Some(max) = max {
        members.set_keyword("maxItems", max);
    }
    // An array cannot require unique keys; a duplicate is rejected by the validator.
    let text = "each entry is a key, given once, and its value";
    cursor.move_to_description(members, "additionalProperties", text.to_owned());
    add_lift_mark(members, LiftMark::KeyValuePairs);
}

/// Describes all other assertions of the schema.
fn describe_other_keywords(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let handled = ["type", "properties", "additionalProperties"];
    let is_other = |keyword: &str, value: &Value| {
        !handled.contains(&keyword) && is_assertion(keyword) && constrains(keyword, value)
    };
    for (keyword, value) in members.clone() {
        if is_other(&keyword, &value) {
            members.remove_keyword(&keyword);
            drop_keyword(members, cursor, &keyword, &value);
        }
    }
}
