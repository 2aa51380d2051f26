//! A schema with marks in, the way between its two forms out.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::{Branch, LIFT, Lift, Member, Step};
use crate::lower::Lookup;

/// Builds the way for a whole schema.
pub(super) fn lift(schema: &Value) -> Lift {
    let named = schema.find("$defs").and_then(Value::as_object);
    Lift {
        root: step(schema),
        named: named
            .into_iter()
            .flatten()
            .map(|(name, part)| (name.clone(), step(part)))
            .collect(),
    }
}

/// The schema of the values in an array of pairs.
pub(super) fn value_of_pair(pairs: &Value) -> Option<&Value> {
    pairs.pointer("/items/properties/value")
}

/// Builds the way for one schema.
fn step(schema: &Value) -> Step {
    let Value::Object(members) = schema else {
        return Step::Nothing;
    };
    // Only recursive schemas keep references, and those are followed whatever they hold.
    if let Some(name) = members.find("$ref").and_then(Value::as_str) {
        let name = name.strip_prefix("#/$defs/").unwrap_or(name);
        return Step::Named(name.to_owned());
    }
    if let Some(Value::Array(branches)) = members.find("anyOf") {
        return any(branches);
    }
    if let Some(marks) = members.find(LIFT) {
        if marks.has("json") {
            return Step::Json;
        }
        if let (Some(Value::Array(values)), Some(Value::Array(texts))) =
            (marks.find("texts"), members.find("enum"))
        {
            return Step::Texts(texts.iter().cloned().zip(values.iter().cloned()).collect());
        }
        if marks.has("pairs") {
            let value = value_of_pair(schema);
            return Step::Pairs(Box::new(value.map(step).unwrap_or_default()));
        }
    }
    let rest = members
        .find("additionalProperties")
        .map(step)
        .unwrap_or_default();
    if let Some(Value::Object(properties)) = members.find("properties") {
        return object(properties, rest);
    }
    if !matches!(rest, Step::Nothing) {
        return Step::Object {
            members: Vec::new(),
            rest: Box::new(rest),
        };
    }
    let first = members.find("prefixItems").and_then(Value::as_array);
    let first: Vec<Step> = first.into_iter().flatten().map(step).collect();
    let rest = members.find("items").map(step).unwrap_or_default();
    if first
        .iter()
        .chain([&rest])
        .all(|step| matches!(step, Step::Nothing))
    {
        return Step::Nothing;
    }
    Step::Array {
        first,
        rest: Box::new(rest),
    }
}

fn any(branches: &[Value]) -> Step {
    if let [only] = branches {
        return step(only);
    }
    let steps: Vec<Step> = branches.iter().map(step).collect();
    if steps.iter().all(|step| matches!(step, Step::Nothing)) {
        return Step::Nothing;
    }
    let branch = |step| Branch {
        schema: OnceLock::new(),
        step,
    };
    Step::Any(steps.into_iter().map(branch).collect())
}

fn object(properties: &Map<String, Value>, rest: Step) -> Step {
    let others = matches!(rest, Step::Nothing);
    let mut members = Vec::new();
    for (wire, part) in properties {
        let marks = part.find(LIFT);
        let name = marks
            .and_then(|marks| marks.find("name"))
            .and_then(Value::as_str);
        let marked = |mark: &str| marks.is_some_and(|marks| marks.has(mark));
        let (absent, never_null) = (marked("absent"), marked("never_null"));
        let step = step(part);
        // Whatever is not listed is left alone, unless the rest is not.
        if others && name.is_none() && !absent && !never_null && matches!(step, Step::Nothing) {
            continue;
        }
        members.push(Member {
            wire: wire.clone(),
            renamed: name.map(str::to_owned),
            absent,
            never_null,
            step,
        });
    }
    if others && members.is_empty() {
        return Step::Nothing;
    }
    Step::Object {
        members,
        rest: Box::new(rest),
    }
}
