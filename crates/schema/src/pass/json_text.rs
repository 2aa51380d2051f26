//! A value whose form a dialect cannot describe, written as JSON text.

use serde_json::{Map, Value, json};

use super::unions::{fold, fold_single};
use crate::lower::{LIFT, Lookup, LookupMut, Mark, describe, mark};

/// Makes a schema one of text that holds the value; what it tells and its marks as a property stay.
pub(super) fn write(schema: &mut Map<String, Value>, words: &str) {
    let told = schema.take_out("description");
    let marks = schema.take_out(LIFT);
    schema.clear();
    schema.put("type", json!("string"));
    if let Some(told) = told {
        schema.put("description", told);
    }
    if let Some(Value::Object(mut marks)) = marks {
        marks.retain(|name, _| matches!(name.as_str(), "absent" | "name"));
        schema.put(LIFT, Value::Object(marks));
    }
    describe(schema, words);
    mark(schema, Mark::Json);
}

/// In a union, text that holds JSON takes in what else is text: nobody could tell the two apart.
pub(super) fn absorb(schema: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = schema.find_mut("anyOf") else {
        return;
    };
    if !branches.iter().any(is_json) {
        return;
    }
    let mut text = Map::new();
    let mut quoted = false;
    branches.retain_mut(|branch| match branch {
        Value::Object(members) if kind(members) == Some("string") => {
            let json = is_json(branch);
            quoted |= !json;
            if let (true, Value::Object(members)) = (json, branch) {
                fold(&mut text, std::mem::take(members));
            }
            false
        }
        _ => true,
    });
    if quoted {
        describe(&mut text, "a string is written in JSON's quotes");
    }
    // The last, so that what has a form of its own is written in it.
    branches.push(Value::Object(text));
    fold_single(schema);
}

fn is_json(schema: &Value) -> bool {
    schema
        .find(LIFT)
        .is_some_and(|marks| marks.find("json").is_some())
}

/// The one type of a schema in normal form.
pub(super) fn kind(schema: &Map<String, Value>) -> Option<&str> {
    schema.find("type").and_then(Value::as_str)
}
