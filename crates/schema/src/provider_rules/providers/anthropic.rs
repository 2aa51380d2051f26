//! Anthropic's rules: JSON Schema 2020-12 with an object at the root, or the subset of strict mode.

use std::collections::HashSet;

use serde_json::Value;

use super::{NO_RULES, ProviderRules};
use crate::provider_rules::{
    definition_refs, keywords, local_refs, meta_schema, object_properties, openai,
    report::Report,
    root,
    subschemas::{PathSegment, Subschema},
    value_types,
};

/// Without strict mode.
pub(crate) const NON_STRICT: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        root::forbid_composed_root,
        meta_schema::require_2020_12,
        local_refs::require_local_refs,
    ],
    ..NO_RULES
};

/// With strict mode.
pub(crate) const STRICT: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        root::forbid_composed_root,
        meta_schema::require_2020_12,
        definition_refs::require_known_definitions,
        definition_refs::forbid_recursion,
    ],
    keywords: Some(&[
        "type", "description", "enum", "const", "anyOf", "allOf", "$defs", "$ref", "format",
        "items", "minItems", "properties", "required", "additionalProperties",
    ]),
    each: &[
        |subschema, report| keywords::forbid_below_root(subschema, "$defs", report),
        allow_strict_formats,
        |subschema, report| {
            value_types::require_type(subschema, &["$ref", "anyOf", "allOf"], report)
        },
        value_types::require_single_or_nullable_type,
        value_types::require_items,
        value_types::require_values_match_type,
        value_types::require_primitive_values,
        object_properties::require_closed,
        object_properties::require_declared_required,
        local_refs::require_ref_alone,
        limit_min_items_to_one,
    ],
    totals: &[check_strict_budget],
    ..NO_RULES
};

/// How many parameters of a request may be optional.
const MAX_OPTIONAL_PARAMETERS: usize = 24;
/// How many parameters of a request may have a union type.
const MAX_UNION_PARAMETERS: usize = 16;

/// OpenAI's formats, and `uri`.
fn allow_strict_formats(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if subschema.get("format").is_none_or(|format| format != "uri") {
        keywords::allow_formats(subschema, &openai::STRICT_FORMATS, report);
    }
}

fn limit_min_items_to_one(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let is_zero_or_one = |min: &Value| min.as_f64().is_some_and(|min| min == 0.0 || min == 1.0);
    if subschema.get("minItems").is_some_and(|min| !is_zero_or_one(min)) {
        report.reject(subschema, "`minItems` may only be 0 or 1");
    }
}

/// The limits that all strict tools share, applied to one. References are not followed.
fn check_strict_budget(report: &mut Report<'_>) {
    let (mut optional, mut unions) = (0, 0);
    for subschema in report.subschemas().entries() {
        let required: HashSet<&str> = subschema.required().collect();
        let names = subschema.property_names();
        optional += names.filter(|name| !required.contains(name.as_str())).count();
        let is_union =
            subschema.get("anyOf").is_some() || subschema.get("type").is_some_and(Value::is_array);
        unions += usize::from(
            is_union && matches!(subschema.segment, PathSegment::Name("properties", _)),
        );
    }
    report.reject_above(MAX_OPTIONAL_PARAMETERS, optional, "optional parameters");
    report.reject_above(MAX_UNION_PARAMETERS, unions, "union-typed parameters");
}
