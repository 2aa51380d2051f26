//! Gemini's rules: a subset of JSON Schema in `parametersJsonSchema`, or the OpenAPI form in `parameters`.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, keywords, local_refs, meta_schema, object_properties,
    report::RejectionReport,
    root,
    subschemas::{Subschema, SubschemaList},
    value_types,
};

mod openapi;

pub(crate) use openapi::openapi;

const JSON_SCHEMA_KEYWORDS: [&str; 17] = [
    "type", "title", "description", "enum", "anyOf", "$defs", "$ref", "minimum", "maximum",
    "items", "prefixItems", "minItems", "maxItems", "properties", "required",
    "additionalProperties", "propertyOrdering",
];

/// The highest sum of `maxItems` in a tool: the API rejects more with an unspecific error.
const MAX_ITEMS_TOTAL: f64 = 960.0;

/// `parametersJsonSchema`.
pub(crate) fn check_json_schema(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::under_keywords(schema, &JSON_SCHEMA_KEYWORDS);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    local_refs::require_local_refs(&mut report);
    for subschema in subschemas.entries() {
        keywords::require_object_schema(subschema, &mut report);
        keywords::allow_only(subschema, &JSON_SCHEMA_KEYWORDS, &mut report);
        value_types::require_single_or_nullable_type(subschema, &mut report);
        value_types::require_values_match_type(subschema, &mut report);
        object_properties::require_identifier_names(subschema, &mut report);
        require_known_property_ordering(subschema, &mut report);
    }
    let max_items = |subschema: &Subschema<'_>| subschema.get("maxItems").and_then(Value::as_f64);
    let items: f64 = subschemas.entries().iter().filter_map(max_items).sum();
    if items > MAX_ITEMS_TOTAL {
        report.reject_root(format!(
            "`maxItems` add up to {items}, and at most {MAX_ITEMS_TOTAL} are accepted"
        ));
    }
    report.into_rejections()
}

/// `propertyOrdering` may list only properties.
fn require_known_property_ordering<'a>(
    subschema: &Subschema<'a>,
    report: &mut RejectionReport<'_, 'a>,
) {
    let Some(order) = subschema.get("propertyOrdering") else {
        return;
    };
    let exists = |name: &Value| {
        let name = name.as_str();
        name.zip(subschema.properties())
            .is_some_and(|(name, properties)| properties.contains_key(name))
    };
    if !order.as_array().is_some_and(|names| names.iter().all(exists)) {
        report.reject(subschema, "`propertyOrdering` must be a list of properties");
    }
}
