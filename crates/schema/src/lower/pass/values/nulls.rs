//! Gives null the form that the dialect has for it.

use serde_json::Value;

use super::json_text::replace_by_constant;
use crate::dialect::NullStyle;
use crate::lower::pass::unions::{is_null_schema, unwrap_single_branch};
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LiftMark, LowerError, LoweringState, PathSegment,
    SchemaCursor, Severity, add_lift_mark, append_to_description,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any(KeywordSet::from_keywords(&["anyOf"]).union(KeywordSet::NULL_TYPE)) {
        return Ok(());
    }
    match state.rules.null_style {
        NullStyle::TypeList => state.visit_top_down(|members, _| null_to_type_list(members)),
        NullStyle::AnyOfBranch => {}
        NullStyle::NullableKeyword => state.visit_top_down(|members, _| {
            if let Some(null) = take_null_branch(members) {
                members.set_keyword("nullable", Value::Bool(true));
                keep_null_description(members, &null);
            } else if members.text("type") == Some("null") {
                replace_by_constant(members, Value::Null);
            }
        }),
        NullStyle::Unsupported => state.visit_top_down(remove_null),
    }
    state.note_added_keywords(KeywordSet::from_keywords(&["enum", "nullable"]));
    Ok(())
}

/// Makes a union of a scalar and null one schema with two types.
fn null_to_type_list(members: &mut JsonObject) {
    let Some(branches) = members.list("anyOf") else {
        return;
    };
    let scalar = |branch: &Value| {
        matches!(branch.text("type"), Some("boolean" | "integer" | "number" | "string"))
    };
    if branches.len() != 2 || !branches.iter().any(is_null_schema) || !branches.iter().any(scalar) {
        return;
    }
    let Some(null) = take_null_branch(members) else {
        return;
    };
    keep_null_description(members, &null);
    if let Some(json_type) = members.keyword_mut("type") {
        *json_type = Value::Array(vec![json_type.take(), Value::from("null")]);
    }
    if let Some(Value::Array(values)) = members.keyword_mut("enum") {
        values.push(Value::Null);
    }
}

/// Removes null from a union with other branches.
fn take_null_branch(members: &mut JsonObject) -> Option<Value> {
    let Some(Value::Array(branches)) = members.keyword_mut("anyOf") else {
        return None;
    };
    let at = branches.iter().position(is_null_schema)?;
    if branches.iter().all(is_null_schema) {
        branches.truncate(1);
        unwrap_single_branch(members);
        return None;
    }
    let null = branches.remove(at);
    branches.retain(|branch| !is_null_schema(branch));
    unwrap_single_branch(members);
    Some(null)
}

/// Keeps the description of null.
fn keep_null_description(members: &mut JsonObject, null: &Value) {
    if let Some(description) = null.text("description").filter(|text| !text.trim().is_empty()) {
        append_to_description(members, &format!("null: {description}"));
    }
}

/// For dialects without null: a property is absent instead, if it is optional.
fn remove_null(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    if take_null_branch(members).is_some() {
        cursor.report_loss("null", Severity::Narrower, None);
    } else if members.text("type") == Some("null") {
        replace_by_constant(members, Value::Null);
    }
    if !members.has_keyword("properties") {
        return;
    }
    let required = members.list("required").unwrap_or_default().to_vec();
    if let Some(Value::Object(properties)) = members.keyword_mut("properties") {
        for (name, subschema) in properties {
            if let Value::Object(subschema) = subschema
                && !required.iter().any(|other| other == name)
                && take_null_branch(subschema).is_some()
            {
                add_lift_mark(subschema, LiftMark::OmitNull);
                let mut cursor = cursor.child("properties", PathSegment::Name(name));
                cursor.report_loss("null", Severity::Note, None);
            }
        }
    }
}
