//! Builds the conversion plan from a schema with marks.

use std::sync::OnceLock;

use serde_json::Value;

use crate::JsonObject;

use super::{LIFT_KEYWORD, LiftBranch, LiftPlan, LiftProperty, LiftStep};
use crate::lower::KeywordLookup;

/// Builds the plan for a whole schema.
pub(super) fn build_plan(schema: &Value) -> LiftPlan {
    let named = schema.object("$defs").into_iter().flatten();
    let definition_steps = named.map(|(name, subschema)| (name.clone(), build_step(subschema)));
    LiftPlan { root_step: build_step(schema), definition_steps: definition_steps.collect() }
}

/// The schema of the values in an array of pairs.
pub(super) fn pair_value_schema(pairs: &Value) -> Option<&Value> {
    pairs.pointer("/items/properties/value")
}

/// Builds the step for one schema.
fn build_step(schema: &Value) -> LiftStep {
    let Value::Object(members) = schema else {
        return LiftStep::Identity;
    };
    // Only recursive schemas keep references, so these are always followed.
    if let Some(name) = members.text("$ref") {
        let name = name.strip_prefix("#/$defs/").unwrap_or(name);
        return LiftStep::Definition(name.to_owned());
    }
    if let Some(branches) = members.list("anyOf") {
        return build_any_of_step(branches);
    }
    if let Some(marks) = members.keyword(LIFT_KEYWORD) {
        if marks.has_keyword("json") {
            return LiftStep::JsonText;
        }
        if let (Some(values), Some(texts)) = (marks.list("texts"), members.list("enum")) {
            let pairs = texts.iter().cloned().zip(values.iter().cloned());
            return LiftStep::EnumAsText(pairs.collect());
        }
        if marks.has_keyword("pairs") {
            let value = pair_value_schema(schema);
            return LiftStep::KeyValuePairs(Box::new(value.map(build_step).unwrap_or_default()));
        }
    }
    let rest = members.keyword("additionalProperties").map(build_step).unwrap_or_default();
    if let Some(properties) = members.object("properties") {
        return build_object_step(properties, rest);
    }
    if !matches!(rest, LiftStep::Identity) {
        return LiftStep::Object { members: Vec::new(), rest: Box::new(rest) };
    }
    let first = members.list("prefixItems").into_iter().flatten();
    let first: Vec<LiftStep> = first.map(build_step).collect();
    let rest = members.keyword("items").map(build_step).unwrap_or_default();
    if first.iter().chain([&rest]).all(|step| matches!(step, LiftStep::Identity)) {
        return LiftStep::Identity;
    }
    LiftStep::Array { first, rest: Box::new(rest) }
}

fn build_any_of_step(branches: &[Value]) -> LiftStep {
    if let [only] = branches {
        return build_step(only);
    }
    let steps: Vec<LiftStep> = branches.iter().map(build_step).collect();
    if steps.iter().all(|step| matches!(step, LiftStep::Identity)) {
        return LiftStep::Identity;
    }
    let branch = |step| LiftBranch { schema: OnceLock::new(), step };
    LiftStep::AnyOf(steps.into_iter().map(branch).collect())
}

fn build_object_step(properties: &JsonObject, rest: LiftStep) -> LiftStep {
    let others = matches!(rest, LiftStep::Identity);
    let mut members = Vec::new();
    for (wire, subschema) in properties {
        let marks = subschema.keyword(LIFT_KEYWORD);
        let name = marks.and_then(|marks| marks.text("name"));
        let marked = |mark: &str| marks.is_some_and(|marks| marks.has_keyword(mark));
        let (absent, never_null) = (marked("absent"), marked("never_null"));
        let step = build_step(subschema);
        // Properties without changes need no entry, unless there is a step for all other properties.
        if others && name.is_none() && !absent && !never_null && matches!(step, LiftStep::Identity)
        {
            continue;
        }
        members.push(LiftProperty {
            wire_name: wire.clone(),
            canonical_name: name.map(str::to_owned),
            null_means_absent: absent,
            omit_null: never_null,
            step,
        });
    }
    if others && members.is_empty() {
        return LiftStep::Identity;
    }
    LiftStep::Object { members, rest: Box::new(rest) }
}
