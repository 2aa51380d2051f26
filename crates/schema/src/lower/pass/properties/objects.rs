//! Gives objects declared properties only; objects without any become arrays of pairs or JSON text.
//!
//! A map becomes an array of pairs, which is wider: an array with a duplicate key is not a map, stays an array when
//! arguments are lifted, and is rejected by the validator.

mod undeclared;

use serde_json::{Value, json};

use self::undeclared::{BranchTypeCounts, SiblingTypes, rewrite_undeclared};
use crate::lower::pass::applies_to::has_no_assertions;
use crate::lower::pass::enums;
use crate::lower::pass::json_text;
use crate::lower::pass::unsupported_keywords::{drop_unsupported, drop_unsupported_subschemas};
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState, PathSegment, SchemaCursor,
    Severity, append_to_description,
};

/// A schema is not copied to more undeclared names than these.
const MAX_COPIES: usize = 64;

/// For dialects that support only declared properties: rewrites all other objects.
pub(crate) fn require_declared_properties(state: &mut LoweringState) -> Result<(), LowerError> {
    state.visit_top_down(|members, cursor| {
        if members.has_keyword("anyOf") {
            rewrite_union(members, cursor);
        } else {
            rewrite_schema(members, cursor, SiblingTypes::default());
        }
    });
    state.note_added_keywords(KeywordSet::from_keywords(&[
        "additionalProperties", "enum", "items", "maxItems", "minItems",
    ]));
    Ok(())
}

/// For strict modes: closes every object and adds `properties`, possibly empty.
pub(crate) fn close_objects(state: &mut LoweringState) -> Result<(), LowerError> {
    state.visit_top_down(|members, cursor| {
        if members.text("type") != Some("object") {
            return;
        }
        if !members.has_keyword("properties") {
            members.set_keyword("properties", json!({}));
        }
        if !members.is_false("additionalProperties") {
            members.set_keyword("additionalProperties", Value::Bool(false));
            cursor.report_loss("additionalProperties", Severity::Narrower, None);
        }
    });
    state.note_added_keywords(KeywordSet::from_keywords(&["additionalProperties"]));
    Ok(())
}

/// Rewrites the branches together, because two of them must not become equal.
fn rewrite_union(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let Some(Value::Array(branches)) = members.keyword_mut("anyOf") else {
        return;
    };
    let mut all = BranchTypeCounts::default();
    branches.iter().for_each(|branch| all.add(branch));
    for (at, branch) in branches.iter_mut().enumerate() {
        let siblings = all.siblings_of(branch);
        if let Value::Object(branch) = branch {
            rewrite_schema(branch, &mut cursor.child("anyOf", PathSegment::Index(at)), siblings);
        }
        all.add(branch);
    }
    json_text::merge_string_branches(members);
}

fn rewrite_schema(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>, siblings: SiblingTypes) {
    match members.text("type") {
        Some("object") => {
            rewrite_object(members, cursor, siblings);
            drop_unsupported_subschemas(members, cursor);
        }
        Some("array") => {
            // Its items may be rewritten, and then no listed value would be valid.
            enums::move_enum_to_description(members, cursor);
            drop_unsupported_subschemas(members, cursor);
        }
        None if !cursor.path.is_root() && !members.has_keyword("$ref") => {
            // A schema that is never valid has no type either.
            drop_unsupported(members, cursor);
            if has_no_assertions(members) {
                json_text::replace_by_json_text(members, "any value, as JSON text");
            }
        }
        _ => {}
    }
}

/// What an object allows besides its declared properties.
#[derive(PartialEq)]
enum AdditionalProperties {
    Forbidden,
    Allowed,
    /// Each must be valid for a schema.
    Constrained,
}

impl AdditionalProperties {
    fn of(members: &JsonObject) -> Self {
        match members.keyword("additionalProperties") {
            Some(Value::Bool(false)) => Self::Forbidden,
            Some(Value::Object(rule)) if !has_no_assertions(rule) => Self::Constrained,
            _ => Self::Allowed,
        }
    }
}

fn rewrite_object(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>, siblings: SiblingTypes) {
    enums::move_enum_to_description(members, cursor);
    let closes = cursor.rules.allows_keyword("additionalProperties");
    let rest = AdditionalProperties::of(members);
    let missing = undeclared_required(members, cursor);
    if declares_none(members) && !cursor.path.is_root() {
        // Where objects stay open, it is enough to declare what is required.
        let declarable = !closes && rest == AdditionalProperties::Allowed && !missing.is_empty();
        if !declarable {
            return rewrite_undeclared(members, cursor, &rest, siblings);
        }
    }
    if !missing.is_empty() {
        let properties = members.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            properties.extend(missing);
        }
    }
    if closes && rest == AdditionalProperties::Constrained {
        let words = "no further properties";
        members.set_keyword("additionalProperties", Value::Bool(false));
        append_to_description(members, words);
        cursor.report_loss("additionalProperties", Severity::Narrower, Some(words.to_owned()));
    }
}

fn declares_none(members: &JsonObject) -> bool {
    members.object("properties").is_none_or(JsonObject::is_empty)
}

/// The properties that are required but not declared, with their schemas.
fn undeclared_required(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
) -> Vec<(String, Value)> {
    let declared = members.object("properties");
    let is_declared = |name: &str| declared.is_some_and(|declared| declared.has_keyword(name));
    let missing: Vec<&str> = members.required_names().filter(|name| !is_declared(name)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let rule = match members.keyword("additionalProperties") {
        Some(Value::Bool(false)) => {
            // Required and never valid: no object is valid, which no dialect can express.
            let possible = members.required_names().filter(|name| is_declared(name));
            let possible = possible.map(Value::from).collect();
            members.set_keyword("required", possible);
            cursor.report_loss("required", Severity::Wider, None);
            return Vec::new();
        }
        Some(rule @ Value::Object(_)) if missing.len() <= MAX_COPIES => rule,
        Some(Value::Object(_)) => {
            cursor.report_loss("additionalProperties", Severity::Wider, None);
            &json!({})
        }
        _ => &json!({}),
    };
    let follow = |name: &str| (name.to_owned(), rule.clone());
    missing.into_iter().map(follow).collect()
}
