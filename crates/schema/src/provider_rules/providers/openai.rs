//! OpenAI's rules: any JSON Schema of an object, or the subset of strict mode.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, definition_refs, keywords, local_refs, meta_schema, object_properties, pattern,
    report::RejectionReport, root, subschemas::SubschemaList, value_types,
};

mod budget;

/// Without strict mode.
pub(crate) fn check_non_strict(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&subschemas);
    require_plain_object_schema(&mut report);
    report.into_rejections()
}

/// JSON Schema 2020-12 with a plain root that has `properties`: also the rule of OpenAI-compatible providers.
pub(crate) fn require_plain_object_schema(report: &mut RejectionReport<'_, '_>) {
    root::require_object_root(report);
    root::forbid_composed_root(report);
    root::require_root_properties(report);
    meta_schema::require_2020_12(report);
    local_refs::require_local_refs(report);
}

/// The keywords of strict mode.
const STRICT_KEYWORDS: [&str; 20] = [
    "type", "description", "enum", "const", "anyOf", "$defs", "$ref", "pattern", "format",
    "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "items",
    "minItems", "maxItems", "properties", "required", "additionalProperties",
];

/// The formats of strict mode.
pub(crate) const STRICT_FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// With strict mode.
pub(crate) fn check_strict(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::under_keywords(schema, &STRICT_KEYWORDS);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    definition_refs::require_known_definitions(&mut report);
    for subschema in subschemas.entries() {
        keywords::require_object_schema(subschema, &mut report);
        keywords::allow_only(subschema, &STRICT_KEYWORDS, &mut report);
        keywords::forbid_below_root(subschema, "$defs", &mut report);
        keywords::allow_formats(subschema, &STRICT_FORMATS, &mut report);
        value_types::require_type(subschema, &["$ref", "anyOf"], &mut report);
        value_types::require_single_or_nullable_type(subschema, &mut report);
        value_types::require_items(subschema, &mut report);
        value_types::require_values_match_type(subschema, &mut report);
        object_properties::require_properties(subschema, &mut report);
        object_properties::require_closed(subschema, &mut report);
        object_properties::require_all_required(subschema, &mut report);
        object_properties::require_declared_required(subschema, &mut report);
        pattern::forbid_lookaround(subschema, &mut report);
        local_refs::require_ref_alone(subschema, &mut report);
    }
    budget::is_kept(&mut report);
    report.into_rejections()
}
