//! Replaces a value that a dialect cannot describe by JSON text.

use serde_json::{Value, json};

use crate::lower::pass::describe::describe_object;
use crate::lower::pass::unions::{merge_branch, unwrap_single_branch};
use crate::lower::{
    JsonObject, KeywordLookup, LIFT_KEYWORD, LiftMark, SchemaCursor, Severity, add_lift_mark,
    append_to_description,
};

/// Makes a schema a string that contains the value as JSON; its description and its marks as a property stay.
pub(crate) fn replace_by_json_text(schema: &mut JsonObject, text: &str) {
    schema.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT_KEYWORD));
    schema.shift_insert(0, "type".to_owned(), json!("string"));
    if let Some(Value::Object(marks)) = schema.keyword_mut(LIFT_KEYWORD) {
        marks.retain(|name, _| matches!(name.as_str(), "absent" | "name"));
    }
    append_to_description(schema, text);
    add_lift_mark(schema, LiftMark::JsonText);
}

/// The same with a description of the values, as a loss.
pub(crate) fn describe_as_json_text(schema: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let text = format!("{}, as JSON text", describe_object(schema));
    replace_by_json_text(schema, &text);
    cursor.report_loss("type", Severity::Wider, Some(text));
}

/// Replaces a schema with one valid value by the string that contains it as JSON.
pub(crate) fn replace_by_constant(schema: &mut JsonObject, value: Value) {
    schema.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT_KEYWORD));
    schema.set_keyword("type", json!("string"));
    schema.set_keyword("enum", json!([value.to_string()]));
    add_lift_mark(schema, LiftMark::EnumAsText(vec![value]));
}

/// Merges the other strings of a union into the one that contains JSON, because lifting could not distinguish them.
pub(crate) fn merge_string_branches(schema: &mut JsonObject) {
    let Some(Value::Array(branches)) = schema.keyword_mut("anyOf") else {
        return;
    };
    if !branches.iter().any(is_json_text) {
        return;
    }
    let mut text = JsonObject::new();
    let mut quoted = false;
    branches.retain_mut(|branch| match branch {
        Value::Object(members) if members.text("type") == Some("string") => {
            let json = is_json_text(branch);
            quoted |= !json;
            if let (true, Value::Object(members)) = (json, branch) {
                merge_branch(&mut text, std::mem::take(members));
            }
            false
        }
        _ => true,
    });
    if quoted {
        append_to_description(&mut text, "a string is written in JSON's quotes");
    }
    // Last, so that the model prefers the other branches.
    branches.push(Value::Object(text));
    unwrap_single_branch(schema);
}

fn is_json_text(schema: &Value) -> bool {
    schema.keyword(LIFT_KEYWORD).is_some_and(|marks| marks.has_keyword("json"))
}
