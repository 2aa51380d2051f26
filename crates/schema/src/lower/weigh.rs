//! A lowered schema in, what it takes from the budgets of a request out.

use serde_json::Value;

use super::{Lookup, LookupMut, Parts, parts};

/// What one tool's schema takes from a request's budgets, references not followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weight {
    /// How many properties it has in all.
    pub properties: usize,
    /// How many of them may be left out.
    pub optional: usize,
    /// How many of them have a union for a type.
    pub unions: usize,
    /// What `maxItems` adds up to.
    pub items: u64,
}

pub(crate) fn weigh(schema: &Value) -> Weight {
    let mut weight = Weight::default();
    each(schema, &mut |schema| {
        let Some(Value::Object(properties)) = schema.find("properties") else {
            return;
        };
        let required = schema.find("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
        weight.properties += properties.len();
        weight.optional += properties.keys().filter(|name| !is_required(name)).count();
        let is_union = |part: &&Value| {
            part.find("anyOf").is_some() || part.find("type").is_some_and(Value::is_array)
        };
        weight.unions += properties.values().filter(is_union).count();
    });
    each_bound(schema, &mut |bound| {
        weight.items = weight.items.saturating_add(bound)
    });
    weight
}

/// Calls with every `maxItems`.
pub(crate) fn each_bound(schema: &Value, take: &mut dyn FnMut(u64)) {
    each(schema, &mut |schema| {
        if let Some(bound) = schema.find("maxItems").and_then(Value::as_u64) {
            take(bound);
        }
    });
}

/// Takes a keyword out of every schema.
pub(crate) fn remove(schema: &mut Value, keyword: &str) {
    let Value::Object(members) = schema else {
        return;
    };
    members.take_out(keyword);
    for (name, value) in members {
        match (parts(name), value) {
            (Parts::One | Parts::OneOrMany, value @ Value::Object(_)) => remove(value, keyword),
            (Parts::Many | Parts::OneOrMany, Value::Array(parts)) => {
                parts.iter_mut().for_each(|part| remove(part, keyword))
            }
            (Parts::Named, Value::Object(parts)) => {
                parts.values_mut().for_each(|part| remove(part, keyword))
            }
            _ => {}
        }
    }
}

fn each(schema: &Value, visit: &mut dyn FnMut(&Value)) {
    let Value::Object(members) = schema else {
        return;
    };
    visit(schema);
    for (keyword, value) in members {
        match (parts(keyword), value) {
            (Parts::One | Parts::OneOrMany, Value::Object(_)) => each(value, visit),
            (Parts::Many | Parts::OneOrMany, Value::Array(parts)) => {
                parts.iter().for_each(|part| each(part, visit))
            }
            (Parts::Named, Value::Object(parts)) => {
                parts.values().for_each(|part| each(part, visit))
            }
            _ => {}
        }
    }
}
