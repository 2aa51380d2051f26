//! Anthropic's rules: JSON Schema 2020-12 with an object at the root, or the subset of strict mode.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, definition_refs, keywords, local_refs, meta_schema, object_properties, openai,
    report::RejectionReport,
    root,
    subschemas::{PathSegment, Subschema, SubschemaList},
    value_types,
};

/// Without strict mode.
pub(crate) fn check_non_strict(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    local_refs::require_local_refs(&mut report);
    report.into_rejections()
}

/// The keywords of strict mode.
const STRICT_KEYWORDS: [&str; 14] = [
    "type", "description", "enum", "const", "anyOf", "allOf", "$defs", "$ref", "format", "items",
    "minItems", "properties", "required", "additionalProperties",
];

/// How many parameters of a request may be optional.
const MAX_OPTIONAL_PARAMETERS: usize = 24;
/// How many parameters of a request may have a union type.
const MAX_UNION_PARAMETERS: usize = 16;

/// With strict mode.
pub(crate) fn check_strict(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::under_keywords(schema, &STRICT_KEYWORDS);
    let mut report = RejectionReport::new(&subschemas);
    let formats: Vec<&str> = openai::STRICT_FORMATS.into_iter().chain(["uri"]).collect();
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    definition_refs::require_known_definitions(&mut report);
    definition_refs::forbid_recursion(&mut report);
    for subschema in subschemas.entries() {
        keywords::require_object_schema(subschema, &mut report);
        keywords::allow_only(subschema, &STRICT_KEYWORDS, &mut report);
        keywords::forbid_below_root(subschema, "$defs", &mut report);
        keywords::allow_formats(subschema, &formats, &mut report);
        value_types::require_type(subschema, &["$ref", "anyOf", "allOf"], &mut report);
        value_types::require_single_or_nullable_type(subschema, &mut report);
        value_types::require_items(subschema, &mut report);
        value_types::require_values_match_type(subschema, &mut report);
        value_types::require_primitive_values(subschema, &mut report);
        object_properties::require_closed(subschema, &mut report);
        object_properties::require_declared_required(subschema, &mut report);
        local_refs::require_ref_alone(subschema, &mut report);
        limit_min_items_to_one(subschema, &mut report);
    }
    check_strict_budget(&mut report);
    report.into_rejections()
}

fn limit_min_items_to_one<'a>(subschema: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    let is_zero_or_one = |min: &Value| min.as_f64().is_some_and(|min| min == 0.0 || min == 1.0);
    if subschema.get("minItems").is_some_and(|min| !is_zero_or_one(min)) {
        report.reject(subschema, "`minItems` may only be 0 or 1");
    }
}

/// The limits that all strict tools share, applied to one. References are not followed.
fn check_strict_budget(report: &mut RejectionReport<'_, '_>) {
    let (mut optional, mut unions) = (0, 0);
    for subschema in report.subschemas().entries() {
        let required: std::collections::HashSet<&str> = subschema.required().collect();
        let names = subschema.properties().into_iter().flat_map(|properties| properties.keys());
        optional += names.filter(|name| !required.contains(name.as_str())).count();
        let is_union =
            subschema.get("anyOf").is_some() || subschema.get("type").is_some_and(Value::is_array);
        unions += usize::from(
            is_union && matches!(subschema.segment, PathSegment::Name("properties", _)),
        );
    }
    for (spent, budget, what) in [
        (optional, MAX_OPTIONAL_PARAMETERS, "optional"),
        (unions, MAX_UNION_PARAMETERS, "union-typed"),
    ] {
        if spent > budget {
            report.reject_root(format!(
                "{spent} {what} parameters, and at most {budget} are accepted"
            ));
        }
    }
}
