//! Counts what a lowered schema uses of the limits of a request.

use serde_json::Value;

use super::{KeywordLookup, KeywordLookupMut, SubschemaShape, subschema_shape, subschemas_of};

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

pub(crate) fn schema_cost(schema: &Value) -> SchemaCost {
    let mut weight = SchemaCost::default();
    for_each_schema(schema, &mut |schema| {
        let Some(Value::Object(properties)) = schema.keyword("properties") else {
            return;
        };
        let required = schema.keyword("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
        weight.properties += properties.len();
        weight.optional += properties.keys().filter(|name| !is_required(name)).count();
        let is_union = |subschema: &&Value| {
            subschema.keyword("anyOf").is_some()
                || subschema.keyword("type").is_some_and(Value::is_array)
        };
        weight.unions += properties.values().filter(is_union).count();
    });
    for_each_max_items(schema, &mut |bound| {
        weight.max_items_total = weight.max_items_total.saturating_add(bound)
    });
    weight
}

/// Calls `take` with every `maxItems`.
pub(crate) fn for_each_max_items(schema: &Value, take: &mut dyn FnMut(u64)) {
    for_each_schema(schema, &mut |schema| {
        if let Some(bound) = schema.keyword("maxItems").and_then(Value::as_u64) {
            take(bound);
        }
    });
}

/// Removes a keyword from every subschema.
pub(crate) fn remove_keyword_everywhere(schema: &mut Value, keyword: &str) {
    let Value::Object(members) = schema else {
        return;
    };
    members.remove_keyword(keyword);
    for (name, value) in members {
        match (subschema_shape(name), value) {
            (SubschemaShape::Single | SubschemaShape::SingleOrList, value @ Value::Object(_)) => {
                remove_keyword_everywhere(value, keyword)
            }
            (SubschemaShape::List | SubschemaShape::SingleOrList, Value::Array(subschemas)) => {
                subschemas
                    .iter_mut()
                    .for_each(|subschema| remove_keyword_everywhere(subschema, keyword))
            }
            (SubschemaShape::Map, Value::Object(subschemas)) => subschemas
                .values_mut()
                .for_each(|subschema| remove_keyword_everywhere(subschema, keyword)),
            _ => {}
        }
    }
}

fn for_each_schema(schema: &Value, visit: &mut dyn FnMut(&Value)) {
    let Value::Object(members) = schema else {
        return;
    };
    visit(schema);
    for (keyword, value) in members {
        subschemas_of(keyword, value).for_each(|subschema| for_each_schema(subschema, visit));
    }
}
