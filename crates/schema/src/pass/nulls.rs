//! Null gets the form that the dialect has for it.

use serde_json::{Map, Value, json};

use super::json_text::kind;
use super::unions::{fold_single, is_null};
use crate::dialect::Nulls;
use crate::lower::{
    Draft, Impossible, LIFT, Lookup, LookupMut, Mark, Part, Seen, Severity, Spot, describe, mark,
};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.has(Seen::of(&["anyOf"]).or(Seen::NULL)) {
        return Ok(());
    }
    match draft.rules.nulls {
        Nulls::Type => draft.walk(|schema, _| {
            if let Value::Object(members) = schema {
                as_type(members);
            }
        }),
        Nulls::Branch => {}
        Nulls::Flag => draft.walk(|schema, _| {
            let Value::Object(members) = schema else {
                return;
            };
            if let Some(null) = without_null(members) {
                members.put("nullable", Value::Bool(true));
                tell(members, &null);
            } else if kind(members) == Some("null") {
                as_text(members);
            }
        }),
        Nulls::Never => draft.walk(never),
    }
    draft.adds(Seen::of(&["enum", "nullable"]));
    Ok(())
}

/// A scalar or null becomes one schema with two types.
fn as_type(members: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = members.find("anyOf") else {
        return;
    };
    let scalar = |branch: &Value| {
        let kind = branch.find("type").and_then(Value::as_str);
        matches!(kind, Some("boolean" | "integer" | "number" | "string"))
    };
    if branches.len() != 2 || !branches.iter().any(is_null) || !branches.iter().any(scalar) {
        return;
    }
    let Some(null) = without_null(members) else {
        return;
    };
    tell(members, &null);
    if let Some(kind) = members.find_mut("type") {
        *kind = Value::Array(vec![kind.take(), Value::from("null")]);
    }
    if let Some(Value::Array(values)) = members.find_mut("enum") {
        values.push(Value::Null);
    }
}

/// Takes null out of a union that has it beside others.
fn without_null(members: &mut Map<String, Value>) -> Option<Value> {
    let Some(Value::Array(branches)) = members.find_mut("anyOf") else {
        return None;
    };
    let at = branches.iter().position(is_null)?;
    if branches.iter().all(is_null) {
        branches.truncate(1);
        fold_single(members);
        return None;
    }
    let null = branches.remove(at);
    branches.retain(|branch| !is_null(branch));
    fold_single(members);
    Some(null)
}

/// What was said of null goes on being said.
fn tell(members: &mut Map<String, Value>, null: &Value) {
    if let Some(told) = null.find("description").and_then(Value::as_str)
        && !told.trim().is_empty()
    {
        describe(members, &format!("null: {told}"));
    }
}

/// Null alone, where no type says it, is one fixed text.
fn as_text(members: &mut Map<String, Value>) {
    members.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT));
    members.put("type", json!("string"));
    members.put("enum", json!(["null"]));
    mark(members, Mark::Texts(vec![Value::Null]));
}

/// Nothing can be null: a property is left out instead, if it may be.
fn never(schema: &mut Value, spot: &mut Spot<'_>) {
    let Value::Object(members) = schema else {
        return;
    };
    if without_null(members).is_some() {
        spot.lose("null", Severity::Narrower, None);
    } else if kind(members) == Some("null") {
        as_text(members);
    }
    if !members.has("properties") {
        return;
    }
    let required = members.find("required").cloned().unwrap_or_default();
    let required = required.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(Value::Object(properties)) = members.find_mut("properties") {
        for (name, part) in properties {
            if let Value::Object(part) = part
                && !required.iter().any(|other| other == name)
                && without_null(part).is_some()
            {
                mark(part, Mark::NeverNull);
                let mut spot = spot.below("properties", Part::Named(name));
                spot.lose("null", Severity::Note, None);
            }
        }
    }
}
