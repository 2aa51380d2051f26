//! OpenAPI's `nullable`, said with the type `null`.

use serde_json::{Value, json};

use super::{Members, Walker};

/// What stays outside when a schema becomes one of two: words for readers, and what others refer to.
const OUTSIDE: [&str; 15] = [
    "title",
    "description",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "examples",
    "example",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$defs",
    "definitions",
];

/// Keywords that refuse `null` though the schema names no type.
const REFUSING: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "oneOf",
    "const",
    "not",
    "if",
];

/// Admits `null` where `nullable` says so.
pub(super) fn mend(walker: &mut Walker, members: &mut Members) {
    let Some(nullable) = members.shift_remove("nullable") else {
        return;
    };
    if nullable != true {
        walker.note("`nullable: false` dropped");
        return;
    }
    let typed = members.contains_key("type");
    if !typed
        && REFUSING
            .iter()
            .any(|keyword| members.contains_key(*keyword))
    {
        wrap(members);
    } else {
        widen(members);
    }
    walker.note("`nullable: true` read as: null is admitted");
}

fn widen(members: &mut Members) {
    match members.get_mut("type") {
        Some(Value::Array(words)) => add(words, json!("null")),
        Some(word) if *word != "null" => *word = json!([word.take(), "null"]),
        _ => {}
    }
    if let Some(Value::Array(options)) = members.get_mut("enum") {
        add(options, Value::Null);
    }
    if let Some(Value::Array(branches)) = members.get_mut("anyOf") {
        add(branches, json!({"type": "null"}));
    }
}

fn add(list: &mut Vec<Value>, one: Value) {
    if !list.contains(&one) {
        list.push(one);
    }
}

fn wrap(members: &mut Members) {
    let whole = std::mem::take(members);
    let (outside, inside): (Members, Members) = whole
        .into_iter()
        .partition(|(keyword, _)| OUTSIDE.contains(&keyword.as_str()) || keyword.starts_with("x-"));
    *members = outside;
    members.insert("anyOf".to_owned(), json!([inside, {"type": "null"}]));
}
