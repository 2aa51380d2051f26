//! The rules of Mistral, xAI, Bedrock and DeepSeek's strict mode: variants of OpenAI's.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, definition_refs, keywords, local_refs, meta_schema, object_properties, openai,
    pattern,
    report::RejectionReport,
    root,
    subschemas::{PathSegment, Subschema, SubschemaList},
    value_types,
};

/// Keywords newer than Draft 7, which it silently ignores.
const AFTER_DRAFT_7: [&str; 13] = [
    "prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedItems",
    "unevaluatedProperties", "minContains", "maxContains", "contentSchema", "$anchor",
    "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef",
];

/// Mistral: Draft 7.
pub(crate) fn check_mistral(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_draft_7(&mut report);
    local_refs::require_local_refs(&mut report);
    for subschema in subschemas.entries() {
        keywords::forbid(subschema, &AFTER_DRAFT_7, &mut report);
        local_refs::require_ref_alone(subschema, &mut report);
    }
    report.into_rejections()
}

/// xAI: as OpenAI, without limits on lengths.
pub(crate) fn check_xai(schema: &Value) -> Vec<Rejection> {
    const REFUSED: [&str; 5] = ["minLength", "maxLength", "minItems", "maxItems", "allOf"];
    let subschemas = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&subschemas);
    openai::require_plain_object_schema(&mut report);
    for subschema in subschemas.entries() {
        keywords::forbid(subschema, &REFUSED, &mut report);
    }
    report.into_rejections()
}

/// Bedrock's Converse: 2020-12, without definitions.
pub(crate) fn check_bedrock(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    for subschema in subschemas.entries() {
        keywords::forbid(subschema, &["$ref", "$dynamicRef", "$defs", "definitions"], &mut report);
    }
    report.into_rejections()
}

/// The keywords of DeepSeek's strict mode.
const DEEPSEEK_STRICT_KEYWORDS: [&str; 19] = [
    "type", "description", "enum", "const", "anyOf", "allOf", "$defs", "$ref", "pattern", "format",
    "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "items",
    "properties", "required", "additionalProperties",
];

/// DeepSeek with strict mode.
pub(crate) fn check_deepseek_strict(schema: &Value) -> Vec<Rejection> {
    const FORMATS: [&str; 5] = ["email", "hostname", "ipv4", "ipv6", "uuid"];
    let subschemas = SubschemaList::under_keywords(schema, &DEEPSEEK_STRICT_KEYWORDS);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    definition_refs::require_known_definitions(&mut report);
    for subschema in subschemas.entries() {
        keywords::require_object_schema(subschema, &mut report);
        keywords::allow_only(subschema, &DEEPSEEK_STRICT_KEYWORDS, &mut report);
        keywords::forbid_below_root(subschema, "$defs", &mut report);
        keywords::allow_formats(subschema, &FORMATS, &mut report);
        value_types::require_type(subschema, &["$ref", "anyOf", "allOf"], &mut report);
        value_types::require_items(subschema, &mut report);
        value_types::require_values_match_type(subschema, &mut report);
        object_properties::require_properties(subschema, &mut report);
        object_properties::require_nonempty(subschema, &mut report);
        object_properties::require_closed(subschema, &mut report);
        object_properties::require_all_required(subschema, &mut report);
        object_properties::require_declared_required(subschema, &mut report);
        pattern::forbid_lookaround(subschema, &mut report);
        forbid_containers_in_type_list(subschema, &mut report);
        limit_all_of_to_one(subschema, &mut report);
        forbid_ref_in_any_of(subschema, &mut report);
    }
    report.into_rejections()
}

fn forbid_containers_in_type_list<'a>(
    subschema: &Subschema<'a>,
    report: &mut RejectionReport<'_, 'a>,
) {
    let contains = |json_type| value_types::has_type(subschema, json_type);
    if subschema.get("type").is_some_and(Value::is_array)
        && (contains("object") || contains("array"))
    {
        report.reject(subschema, "a list of types may not contain `object` or `array`");
    }
}

fn limit_all_of_to_one<'a>(subschema: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    if subschema.get("allOf").and_then(Value::as_array).is_some_and(|all| all.len() > 1) {
        report.reject(subschema, "an `allOf` of more than one schema is not accepted");
    }
}

fn forbid_ref_in_any_of<'a>(subschema: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    let is_choice =
        |subschema: &Subschema<'_>| matches!(subschema.segment, PathSegment::Index("anyOf", _));
    if subschema.get("$ref").is_some()
        && report.subschemas().self_and_ancestors(subschema).any(is_choice)
    {
        report.reject(subschema, "`$ref` is not accepted inside `anyOf`");
    }
}
