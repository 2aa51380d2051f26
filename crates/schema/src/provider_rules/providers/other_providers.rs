//! What Mistral, xAI, Bedrock and DeepSeek's strict mode accept: OpenAI's ways, each with exceptions.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, definition_refs, keywords, local_refs, meta_schema, object_properties, openai,
    pattern,
    report::RejectionReport,
    root,
    subschemas::{PathSegment, Subschema, SubschemaList},
    value_types,
};

/// Keywords that came after Draft 7, and which it passes over in silence.
const AFTER_DRAFT_7: [&str; 13] = [
    "prefixItems",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "minContains",
    "maxContains",
    "contentSchema",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
];

/// Mistral: Draft 7.
pub(crate) fn check_mistral(schema: &Value) -> Vec<Rejection> {
    let outline = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&outline);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_draft_7(&mut report);
    local_refs::require_local_refs(&mut report);
    for place in outline.entries() {
        keywords::forbid(place, &AFTER_DRAFT_7, &mut report);
        local_refs::require_ref_alone(place, &mut report);
    }
    report.into_rejections()
}

/// xAI: as OpenAI, without bounds on length.
pub(crate) fn check_xai(schema: &Value) -> Vec<Rejection> {
    const REFUSED: [&str; 5] = ["minLength", "maxLength", "minItems", "maxItems", "allOf"];
    let outline = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&outline);
    openai::require_plain_object_schema(&mut report);
    for place in outline.entries() {
        keywords::forbid(place, &REFUSED, &mut report);
    }
    report.into_rejections()
}

/// Bedrock's Converse: 2020-12, without definitions.
pub(crate) fn check_bedrock(schema: &Value) -> Vec<Rejection> {
    let outline = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&outline);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    for place in outline.entries() {
        keywords::forbid(
            place,
            &["$ref", "$dynamicRef", "$defs", "definitions"],
            &mut report,
        );
    }
    report.into_rejections()
}

/// The keywords of DeepSeek's strict mode.
const DEEPSEEK_STRICT_KEYWORDS: [&str; 19] = [
    "type",
    "description",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$defs",
    "$ref",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "items",
    "properties",
    "required",
    "additionalProperties",
];

/// DeepSeek with strict mode.
pub(crate) fn check_deepseek_strict(schema: &Value) -> Vec<Rejection> {
    const FORMATS: [&str; 5] = ["email", "hostname", "ipv4", "ipv6", "uuid"];
    let outline = SubschemaList::under_keywords(schema, &DEEPSEEK_STRICT_KEYWORDS);
    let mut report = RejectionReport::new(&outline);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    definition_refs::require_known_definitions(&mut report);
    for place in outline.entries() {
        keywords::require_object_schema(place, &mut report);
        keywords::allow_only(place, &DEEPSEEK_STRICT_KEYWORDS, &mut report);
        keywords::forbid_below_root(place, "$defs", &mut report);
        keywords::allow_formats(place, &FORMATS, &mut report);
        value_types::require_type(place, &["$ref", "anyOf", "allOf"], &mut report);
        value_types::require_items(place, &mut report);
        value_types::require_values_match_type(place, &mut report);
        object_properties::require_properties(place, &mut report);
        object_properties::require_nonempty(place, &mut report);
        object_properties::require_closed(place, &mut report);
        object_properties::require_all_required(place, &mut report);
        object_properties::require_declared_required(place, &mut report);
        pattern::forbid_lookaround(place, &mut report);
        forbid_containers_in_type_list(place, &mut report);
        limit_all_of_to_one(place, &mut report);
        forbid_ref_in_any_of(place, &mut report);
    }
    report.into_rejections()
}

fn forbid_containers_in_type_list<'a>(place: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    let contains = |kind| value_types::has_type(place, kind);
    if place.get("type").is_some_and(Value::is_array) && (contains("object") || contains("array")) {
        report.reject(place, "a list of types may not contain `object` or `array`");
    }
}

fn limit_all_of_to_one<'a>(place: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    if place
        .get("allOf")
        .and_then(Value::as_array)
        .is_some_and(|all| all.len() > 1)
    {
        report.reject(place, "an `allOf` of more than one schema is not accepted");
    }
}

fn forbid_ref_in_any_of<'a>(place: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    let is_choice = |place: &Subschema<'_>| matches!(place.segment, PathSegment::Index("anyOf", _));
    if place.get("$ref").is_some() && report.subschemas().self_and_ancestors(place).any(is_choice) {
        report.reject(place, "`$ref` is not accepted inside `anyOf`");
    }
}
