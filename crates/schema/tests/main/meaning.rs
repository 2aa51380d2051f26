//! Schemas as their dialects mean them, and their verdicts.

use serde_json::{Value, json};
use toolwright_sampler::Sampler;
use toolwright_schema::{Dialect, InputLimits, Lowered, Schema, Tape};

/// Whether a schema admits a value.
pub(crate) fn admits(schema: &Schema, value: &Value) -> bool {
    let text = value.to_string();
    let limits = InputLimits { depth: 120, ..InputLimits::default() };
    Tape::parse(&text, &limits).is_ok_and(|tape| schema.is_valid(tape.root()))
}

/// A lowered schema as its dialect means it: Gemini has a flag for null, Mistral reads Draft 7.
pub(crate) fn meant(schema: &Value, dialect: Dialect) -> Schema {
    let mut schema = schema.clone();
    null_flags(&mut schema);
    if let Value::Object(members) = &mut schema
        && dialect == Dialect::MISTRAL
    {
        members.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    }
    Schema::trusted(schema)
}

fn null_flags(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(null_flags),
        Value::Object(members) => {
            members.values_mut().for_each(null_flags);
            if members.get("nullable") == Some(&json!(true)) {
                members.shift_remove("nullable");
                let inner = Value::Object(std::mem::take(members));
                members.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
            }
        }
        _ => {}
    }
}

/// A canonical schema with its closed objects open, as a note about them promises it.
///
/// Where an open object makes others invalid there is more than a note; there it stays closed. Branches
/// that were apart only because they were closed may overlap when open, so one of them becomes any.
pub(crate) fn opened(schema: &Value) -> Value {
    open_objects(schema, schema.get("$defs").unwrap_or(&Value::Null), false)
}

/// `closed` is true for a branch of a closed schema: lowering merges them, so the schema of its other members goes too.
fn open_objects(schema: &Value, definitions: &Value, closed: bool) -> Value {
    let closed = closed || is_closed(schema, definitions);
    let opened = |part| open_objects(part, definitions, false);
    let branch = |part| open_objects(part, definitions, closed);
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let mut open = serde_json::Map::new();
    let mut all: Vec<Value> = Vec::new();
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("additionalProperties" | "unevaluatedProperties", _) if closed => {}
            // A list of names becomes properties, in an object that is closed.
            ("propertyNames", _) => {}
            ("oneOf", Value::Array(branches)) => {
                all.push(json!({"anyOf": branches.iter().map(branch).collect::<Vec<_>>()}));
            }
            ("allOf", Value::Array(parts)) => all.extend(parts.iter().map(branch)),
            ("anyOf", Value::Array(parts)) => {
                open.insert(keyword.clone(), parts.iter().map(branch).collect());
            }
            ("prefixItems", Value::Array(parts)) => {
                open.insert(keyword.clone(), parts.iter().map(opened).collect());
            }
            ("dependentSchemas", Value::Object(parts)) => {
                let parts = parts.iter().map(|(name, part)| (name.clone(), branch(part)));
                open.insert(keyword.clone(), parts.collect());
            }
            ("else" | "then", part) => {
                open.insert(keyword.clone(), branch(part));
            }
            (
                "$defs" | "definitions" | "patternProperties" | "properties",
                Value::Object(parts),
            ) => {
                let parts = parts.iter().map(|(name, part)| (name.clone(), opened(part)));
                open.insert(keyword.clone(), parts.collect());
            }
            (
                "additionalProperties" | "items" | "unevaluatedItems" | "unevaluatedProperties",
                part,
            ) => {
                open.insert(keyword.clone(), opened(part));
            }
            _ => {
                open.insert(keyword.clone(), value.clone());
            }
        }
    }
    if !all.is_empty() {
        open.insert("allOf".to_owned(), Value::Array(all));
    }
    Value::Object(open)
}

/// Returns true if the schema or a branch of it allows no members but those it names.
fn is_closed(schema: &Value, definitions: &Value) -> bool {
    let rest = ["additionalProperties", "unevaluatedProperties"];
    let branches = ["allOf", "anyOf", "oneOf"];
    rest.iter().filter_map(|keyword| schema.get(keyword)).any(|rest| is_never(rest, definitions))
        || branches
            .iter()
            .filter_map(|keyword| schema.get(keyword)?.as_array())
            .flatten()
            .any(|branch| is_closed(branch, definitions))
}

/// Returns true if no value is valid for the schema, as far as the sampler can find out.
fn is_never(schema: &Value, definitions: &Value) -> bool {
    let Value::Object(members) = schema else {
        return *schema == json!(false);
    };
    let mut whole = members.clone();
    whole.insert("$defs".to_owned(), definitions.clone());
    Sampler::new(&Schema::trusted(Value::Object(whole)), 0).valid().is_none()
}

/// What a lowered schema may admit at most: the canonical one, its objects open where they could not be closed.
pub(crate) fn ceiling(canonical: &Schema, lowered: &Lowered) -> Schema {
    Schema::trusted(match lowered.is_closed() {
        true => canonical.as_value().clone(),
        false => opened(canonical.as_value()),
    })
}
