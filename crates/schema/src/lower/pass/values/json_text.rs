//! Replaces a value that a dialect cannot describe by JSON text.

use serde_json::{Map, Value, json};

use crate::lower::pass::unions::{merge_branch, unwrap_single_branch};
use crate::lower::{
    KeywordLookup, KeywordLookupMut, LIFT_KEYWORD, LiftMark, add_lift_mark, append_to_description,
};

/// Makes a schema a string that contains the value as JSON; its description and its marks as a property stay.
pub(crate) fn replace_by_json_text(schema: &mut Map<String, Value>, text: &str) {
    let description = schema.remove_keyword("description");
    let marks = schema.remove_keyword(LIFT_KEYWORD);
    schema.clear();
    schema.set_keyword("type", json!("string"));
    if let Some(description) = description {
        schema.set_keyword("description", description);
    }
    if let Some(Value::Object(mut marks)) = marks {
        marks.retain(|name, _| matches!(name.as_str(), "absent" | "name"));
        schema.set_keyword(LIFT_KEYWORD, Value::Object(marks));
    }
    append_to_description(schema, text);
    add_lift_mark(schema, LiftMark::JsonText);
}

/// Merges the other strings of a union into the one that contains JSON, because lifting could not distinguish them.
pub(crate) fn merge_string_branches(schema: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = schema.keyword_mut("anyOf") else {
        return;
    };
    if !branches.iter().any(is_json_text) {
        return;
    }
    let mut text = Map::new();
    let mut quoted = false;
    branches.retain_mut(|branch| match branch {
        Value::Object(members) if single_type(members) == Some("string") => {
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
    schema.keyword(LIFT_KEYWORD).is_some_and(|marks| marks.keyword("json").is_some())
}

/// The type of a schema in normal form.
pub(crate) fn single_type(schema: &Map<String, Value>) -> Option<&str> {
    schema.keyword("type").and_then(Value::as_str)
}
