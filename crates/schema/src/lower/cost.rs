//! Counts what a lowered schema uses of the limits of a request.

use serde_json::Value;

use super::{JsonObject, KeywordLookup, subschemas_of, subschemas_of_mut};

/// What one tool's schema uses of a request's limits; references are not followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaCost {
    /// The number of properties.
    pub properties: usize,
    /// The number of optional properties.
    pub optional: usize,
    /// The number of properties with a union type.
    pub unions: usize,
    /// The sum of all `maxItems`.
    pub max_items_total: u64,
}

pub(crate) fn schema_cost(schema: &JsonObject) -> SchemaCost {
    let mut weight = SchemaCost::default();
    for_each_schema(schema, &mut |schema| {
        weight.max_items_total =
            weight.max_items_total.saturating_add(max_items(schema).unwrap_or(0));
        let Some(properties) = schema.object("properties") else {
            return;
        };
        let is_required = |name: &str| schema.required_names().any(|other| other == name);
        weight.properties += properties.len();
        weight.optional += properties.keys().filter(|name| !is_required(name)).count();
        weight.unions += properties.values().filter(|subschema| is_union(*subschema)).count();
    });
    weight
}

/// Returns true if a schema is a union or has several types.
pub(crate) fn is_union(schema: &impl KeywordLookup) -> bool {
    schema.has_keyword("anyOf") || schema.keyword("type").is_some_and(Value::is_array)
}

/// Calls `take` with every `maxItems`.
pub(crate) fn for_each_max_items(schema: &JsonObject, take: &mut dyn FnMut(u64)) {
    for_each_schema(schema, &mut |schema| {
        if let Some(bound) = max_items(schema) {
            take(bound);
        }
    });
}

fn max_items(schema: &JsonObject) -> Option<u64> {
    schema.keyword("maxItems").and_then(Value::as_u64)
}

/// Removes a keyword from every subschema.
pub(crate) fn remove_keyword_everywhere(schema: &mut Value, keyword: &str) {
    let Value::Object(members) = schema else {
        return;
    };
    members.remove_keyword(keyword);
    for (name, value) in members {
        subschemas_of_mut(name, value)
            .for_each(|subschema| remove_keyword_everywhere(subschema, keyword));
    }
}

fn for_each_schema(schema: &JsonObject, visit: &mut dyn FnMut(&JsonObject)) {
    visit(schema);
    for (keyword, value) in schema {
        for subschema in subschemas_of(keyword, value).filter_map(Value::as_object) {
            for_each_schema(subschema, visit);
        }
    }
}
