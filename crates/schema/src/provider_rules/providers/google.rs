//! Gemini's rules: a subset of JSON Schema in `parametersJsonSchema`, or the OpenAPI form in `parameters`.

use serde_json::Value;

use super::{NO_RULES, ProviderRules};
use crate::provider_rules::{
    local_refs, meta_schema, object_properties, report::Report, root, subschemas::Subschema,
    value_types,
};

mod openapi;

pub(crate) use openapi::OPENAPI;

/// `parametersJsonSchema`.
pub(crate) const JSON_SCHEMA: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        root::forbid_composed_root,
        meta_schema::require_2020_12,
        local_refs::require_local_refs,
    ],
    keywords: Some(&[
        "type", "title", "description", "enum", "anyOf", "$defs", "$ref", "minimum", "maximum",
        "items", "prefixItems", "minItems", "maxItems", "properties", "required",
        "additionalProperties", "propertyOrdering",
    ]),
    each: &[
        value_types::require_single_or_nullable_type,
        value_types::require_values_match_type,
        object_properties::require_identifier_names,
        require_known_property_ordering,
    ],
    totals: &[limit_max_items_total],
    ..NO_RULES
};

/// The highest sum of `maxItems` in a tool: the API rejects more with an unspecific error.
const MAX_ITEMS_TOTAL: f64 = 960.0;

fn limit_max_items_total(report: &mut Report<'_>) {
    let max_items = |subschema: &Subschema<'_>| subschema.get("maxItems").and_then(Value::as_f64);
    let items: f64 = report.subschemas().entries().iter().filter_map(max_items).sum();
    if items > MAX_ITEMS_TOTAL {
        report.reject_root(format!(
            "`maxItems` add up to {items}, and at most {MAX_ITEMS_TOTAL} are accepted"
        ));
    }
}

/// `propertyOrdering` may list only properties.
fn require_known_property_ordering(subschema: &Subschema<'_>, report: &mut Report<'_>) {
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
