//! `allOf` becomes one schema that says the same.

mod merge;

use serde_json::{Map, Value};

use super::one_of::are_apart;
use super::subject::{admits_all, asserts};
use super::words::words;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Severity, Spot};

pub(crate) use merge::{Conflict, Merge, nothing};

/// Keywords through which another schema speaks about the same value.
const IN_PLACE: [&str; 9] = [
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "dependentSchemas",
    "else",
    "if",
    "oneOf",
    "then",
];

/// How often what opening a reference brought in is joined again.
const ROUNDS: usize = 4;

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["allOf", "unevaluatedItems", "unevaluatedProperties"]) {
        return Ok(());
    }
    for _ in 0..ROUNDS {
        let mut open = false;
        let definitions = draft.schema.find("$defs").cloned().unwrap_or_default();
        draft.walk_up(|schema, spot| {
            if let Value::Object(members) = schema {
                if members.has("allOf") {
                    join(members, spot, &definitions);
                    open = true;
                }
                if members.has("unevaluatedProperties") || members.has("unevaluatedItems") {
                    settle(members);
                }
            }
        });
        draft.changed();
        if open {
            draft.bounded()?;
        }
        if !open || definitions.is_null() {
            break;
        }
    }
    Ok(())
}

/// Merges the parts of an `allOf` into the schema it stands in.
fn join(schema: &mut Map<String, Value>, spot: &mut Spot<'_>, definitions: &Value) {
    let Some(Value::Array(parts)) = schema.take_out("allOf") else {
        return;
    };
    // What is not evaluated is settled when everything that evaluates has come together.
    let unevaluated = ["unevaluatedProperties", "unevaluatedItems"]
        .map(|keyword| (keyword, schema.take_out(keyword)));
    let mut merge = Merge::new(definitions);
    let mut whole = schema.clone();
    for part in parts.iter().filter_map(Value::as_object) {
        if admits_all(&whole) {
            let told = std::mem::replace(&mut whole, part.clone());
            whole = alone(whole, told);
        } else {
            whole = merge.merge(whole, part.clone());
        }
    }
    let keeps = spot
        .rules
        .keywords
        .is_none_or(|kept| kept.contains(&"allOf"));
    if !merge.conflicts.is_empty() && keeps {
        schema.put("allOf", Value::Array(parts));
    } else {
        for Conflict { keyword, value } in merge.conflicts {
            match words(&keyword, &value) {
                Some(words) => spot.spill(&mut whole, &keyword, words),
                None => spot.lose(&keyword, Severity::Wider, None),
            }
        }
        *schema = whole;
    }
    for (keyword, value) in unevaluated {
        if let Some(value) = value {
            schema.put(keyword, value);
        }
    }
}

/// One schema with what is told about it from outside; a reference takes nothing beside it.
pub(crate) fn alone(
    mut schema: Map<String, Value>,
    told: Map<String, Value>,
) -> Map<String, Value> {
    if schema.has("$ref") && !told.is_empty() {
        let mut wrapped = told;
        wrapped.put("anyOf", Value::Array(vec![Value::Object(schema)]));
        return wrapped;
    }
    schema.extend(told);
    schema
}

/// Where nothing else speaks about the same value, what is not evaluated is what is additional.
pub(crate) fn settle(schema: &mut Map<String, Value>) {
    if let Some(Value::Bool(false)) = schema.find("unevaluatedProperties")
        && !schema.has("additionalProperties")
    {
        distribute(schema);
    }
    if IN_PLACE.iter().any(|keyword| schema.has(keyword)) {
        return;
    }
    if let Some(value) = schema.take_out("unevaluatedProperties")
        && !schema.has("additionalProperties")
    {
        schema.put("additionalProperties", value);
    }
    if !schema.has("contains")
        && let Some(value) = schema.take_out("unevaluatedItems")
        && !schema.has("items")
    {
        schema.put("items", value);
    }
}

/// A closed object that is one of several: each alternative says all of it, and is closed itself.
///
/// Where only one of them can be meant, only one evaluates properties, and this is exact.
fn distribute(schema: &mut Map<String, Value>) {
    let in_place: Vec<&str> = IN_PLACE
        .into_iter()
        .filter(|keyword| schema.has(keyword))
        .collect();
    if in_place != ["oneOf"] {
        return;
    }
    let Some(Value::Array(branches)) = schema.find("oneOf") else {
        return;
    };
    let plain = |branch: &Value| {
        branch.as_object().is_some_and(|branch| {
            !IN_PLACE.iter().any(|keyword| branch.has(keyword))
                && !branch.has("unevaluatedProperties")
                && branch
                    .find("additionalProperties")
                    .is_none_or(|value| value == &Value::Bool(false))
        })
    };
    // Closing alternatives could tell apart what was refused for fitting two of them.
    if !branches.iter().all(plain) || !are_apart(branches, schema) {
        return;
    }
    let mut base = schema.clone();
    base.retain(|keyword, _| {
        asserts(keyword) && keyword != "oneOf" && keyword != "unevaluatedProperties"
    });
    let mut merge = Merge::new(&Value::Null);
    let closed: Vec<Value> = branches
        .iter()
        .filter_map(Value::as_object)
        .map(|branch| {
            let mut both = merge.merge(branch.clone(), base.clone());
            both.entry("additionalProperties")
                .or_insert(Value::Bool(false));
            Value::Object(both)
        })
        .collect();
    if merge.conflicts.is_empty() {
        schema.retain(|keyword, _| !asserts(keyword));
        schema.put("oneOf", Value::Array(closed));
    }
}
