//! Conditions between values, for which dialects have no keyword, are said in other keywords or in the description.
//!
//! Everything here stands for a refusal, so that leaving it out admits more; what it meant is told instead. Schemas in `not`
//! and `if` turn that around, which is why they are judged as a whole and never walked into.

mod arrays;
mod objects;
mod phrase;
mod refused;

use serde_json::{Map, Value};

use super::booleans::nothing_at_all;
use super::constants::refuse_all;
use super::subject::admits_all;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Seen, Severity, Spot};

pub(crate) use phrase::noun;

/// More things of one kind are not told.
const TOLD: usize = 12;

/// Keywords about which there is something to do wherever they stand; with others it depends on what no value fits, which
/// is said by `not` or a boolean.
const CONCERNING: [&str; 18] = [
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "maxProperties",
    "minContains",
    "minProperties",
    "not",
    "oneOf",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// What may be said instead.
const WRITTEN: [&str; 6] = [
    "additionalProperties",
    "anyOf",
    "enum",
    "items",
    "maxItems",
    "minItems",
];

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if is_nothing(&draft.schema) {
        return Err(nothing_at_all());
    }
    if !draft.has(Seen::of(&CONCERNING).or(Seen::BOOLEAN)) {
        return Ok(());
    }
    let mut copied = false;
    draft.walk(|schema, spot| {
        if let Value::Object(members) = schema
            && members
                .iter()
                .any(|(keyword, value)| concerns(keyword, value))
        {
            copied |= visit(members, spot);
        }
    });
    draft.adds(Seen::LIST.or(Seen::NULL).or(Seen::of(&WRITTEN)));
    if copied { draft.bounded() } else { Ok(()) }
}

/// Whether a schema that no value fits is all that is meant.
pub(crate) fn is_nothing(schema: &Value) -> bool {
    match schema {
        Value::Bool(flag) => !flag,
        // Schemas are small: looking through them is faster than looking up.
        Value::Object(members) => members
            .iter()
            .any(|(keyword, part)| keyword == "not" && is_anything(part)),
        _ => false,
    }
}

/// Whether every value fits.
pub(crate) fn is_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(flag) => *flag,
        Value::Object(members) => admits_all(members),
        _ => false,
    }
}

/// Whether there is something to do about a keyword.
fn concerns(keyword: &str, value: &Value) -> bool {
    match keyword {
        // By far the most frequent.
        "type" | "description" => false,
        "additionalItems" | "additionalProperties" | "items" => {
            value.is_object() && is_nothing(value)
        }
        "anyOf" | "prefixItems" => value
            .as_array()
            .is_some_and(|parts| parts.iter().any(is_nothing)),
        "properties" => value
            .as_object()
            .is_some_and(|parts| parts.values().any(is_nothing)),
        keyword => CONCERNING.contains(&keyword),
    }
}

/// Returns whether schemas were copied.
fn visit(members: &mut Map<String, Value>, spot: &mut Spot<'_>) -> bool {
    // First what counts the others' work, and what no value fits: a branch must not lose its `not` before its parent saw it.
    objects::unevaluated(members, spot);
    arrays::unevaluated(members, spot);
    prune(members);
    refused::properties(members, spot);
    refused::not(members, spot);
    refused::cases(members, spot);
    refused::second_union(members, spot);
    objects::dependent(members, spot);
    let copied = objects::names(members, spot);
    objects::patterns(members, spot);
    objects::counts(members, spot);
    arrays::contains(members, spot);
    arrays::unique(members, spot);
    copied
}

/// Says of alternatives and elements that no value fits what it means for the whole.
fn prune(members: &mut Map<String, Value>) {
    for keyword in ["additionalItems", "additionalProperties", "items"] {
        if let Some(part @ Value::Object(_)) = members.find_mut(keyword)
            && is_nothing(part)
        {
            *part = Value::Bool(false);
        }
    }
    if let Some(Value::Array(branches)) = members.find_mut("anyOf") {
        branches.retain(|branch| !is_nothing(branch));
        if branches.is_empty() {
            refuse_all(members);
            return;
        }
    }
    arrays::end_at_nothing(members);
}

/// Takes a keyword out, unless the dialect has it.
fn take(members: &mut Map<String, Value>, spot: &Spot<'_>, keyword: &str) -> Option<Value> {
    if spot.rules.keeps(keyword) {
        None
    } else {
        members.take_out(keyword)
    }
}

/// Gives up what a keyword meant, of which the first few things are told.
fn tell(members: &mut Map<String, Value>, spot: &mut Spot<'_>, keyword: &str, all: Vec<String>) {
    let more = all.len() > TOLD;
    for words in all.into_iter().take(TOLD) {
        spot.spill(members, keyword, words);
    }
    if more {
        spot.lose(keyword, Severity::Wider, None);
    }
}

/// The names that `required` lists.
fn required(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = members.find("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// A number of things; `2.0` is one too.
pub(super) fn number(value: &Value) -> Option<u64> {
    let float = || {
        value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && *float >= 0.0)
    };
    value.as_u64().or_else(|| float().map(|float| float as u64))
}

/// Raises a lower bound.
fn at_least(members: &mut Map<String, Value>, keyword: &str, least: u64) {
    if members
        .find(keyword)
        .and_then(number)
        .is_none_or(|given| given < least)
    {
        members.put(keyword, Value::from(least));
    }
}

/// Lowers an upper bound.
pub(super) fn at_most(members: &mut Map<String, Value>, keyword: &str, most: u64) {
    if members
        .find(keyword)
        .and_then(number)
        .is_none_or(|given| given > most)
    {
        members.put(keyword, Value::from(most));
    }
}
