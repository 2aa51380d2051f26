//! Gives null the form that the dialect has for it.

use serde_json::{Map, Value, json};

use super::json_text::single_type;
use crate::dialect::NullStyle;
use crate::lower::pass::unions::{is_null_schema, unwrap_single_branch};
use crate::lower::{
    KeywordLookup, KeywordLookupMut, KeywordSet, LIFT_KEYWORD, LiftMark, LowerError, LoweringState,
    PathSegment, SchemaCursor, Severity, add_lift_mark, append_to_description,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any(KeywordSet::from_keywords(&["anyOf"]).union(KeywordSet::NULL_TYPE)) {
        return Ok(());
    }
    match state.rules.null_style {
        NullStyle::TypeList => state.visit_top_down(|schema, _| {
            if let Value::Object(members) = schema {
                null_to_type_list(members);
            }
        }),
        NullStyle::AnyOfBranch => {}
        NullStyle::NullableKeyword => state.visit_top_down(|schema, _| {
            let Value::Object(members) = schema else {
                return;
            };
            if let Some(null) = take_null_branch(members) {
                members.set_keyword("nullable", Value::Bool(true));
                keep_null_description(members, &null);
            } else if single_type(members) == Some("null") {
                null_to_string(members);
            }
        }),
        NullStyle::Unsupported => state.visit_top_down(remove_null),
    }
    state.note_added_keywords(KeywordSet::from_keywords(&["enum", "nullable"]));
    Ok(())
}

/// Makes a union of a scalar and null one schema with two types.
fn null_to_type_list(members: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = members.keyword("anyOf") else {
        return;
    };
    let scalar = |branch: &Value| {
        let json_type = branch.keyword("type").and_then(Value::as_str);
        matches!(json_type, Some("boolean" | "integer" | "number" | "string"))
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
fn take_null_branch(members: &mut Map<String, Value>) -> Option<Value> {
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
fn keep_null_description(members: &mut Map<String, Value>, null: &Value) {
    if let Some(description) = null.keyword("description").and_then(Value::as_str)
        && !description.trim().is_empty()
    {
        append_to_description(members, &format!("null: {description}"));
    }
}

/// Null alone, in a dialect without the type, becomes a fixed string.
fn null_to_string(members: &mut Map<String, Value>) {
    members.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT_KEYWORD));
    members.set_keyword("type", json!("string"));
    members.set_keyword("enum", json!(["null"]));
    add_lift_mark(members, LiftMark::EnumAsText(vec![Value::Null]));
}

/// For dialects without null: a property is absent instead, if it is optional.
fn remove_null(schema: &mut Value, cursor: &mut SchemaCursor<'_>) {
    let Value::Object(members) = schema else {
        return;
    };
    if take_null_branch(members).is_some() {
        cursor.report_loss("null", Severity::Narrower, None);
    } else if single_type(members) == Some("null") {
        null_to_string(members);
    }
    if !members.has_keyword("properties") {
        return;
    }
    let required = members.keyword("required").cloned().unwrap_or_default();
    let required = required.as_array().map(Vec::as_slice).unwrap_or_default();
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
