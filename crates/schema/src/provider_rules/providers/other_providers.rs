//! The rules of Mistral, xAI, Bedrock and DeepSeek's strict mode: variants of OpenAI's.

use serde_json::Value;

use super::{NO_RULES, ProviderRules};
use crate::provider_rules::{
    definition_refs, keywords, local_refs, meta_schema, object_properties, openai, pattern,
    report::Report,
    root,
    subschemas::{PathSegment, Subschema},
    value_types,
};

/// Keywords newer than Draft 7, which it silently ignores.
const AFTER_DRAFT_7: [&str; 13] = [
    "prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedItems",
    "unevaluatedProperties", "minContains", "maxContains", "contentSchema", "$anchor",
    "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef",
];

/// Mistral: Draft 7.
pub(crate) const MISTRAL: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        root::forbid_composed_root,
        meta_schema::require_draft_7,
        local_refs::require_local_refs,
    ],
    each: &[
        |subschema, report| keywords::forbid(subschema, &AFTER_DRAFT_7, report),
        local_refs::require_ref_alone,
    ],
    ..NO_RULES
};

/// xAI: as OpenAI, without limits on lengths.
pub(crate) const XAI: ProviderRules = ProviderRules {
    whole: openai::PLAIN_OBJECT_SCHEMA,
    each: &[|subschema, report| {
        let rejected = ["minLength", "maxLength", "minItems", "maxItems", "allOf"];
        keywords::forbid(subschema, &rejected, report);
    }],
    ..NO_RULES
};

/// Bedrock's Converse: 2020-12, without definitions.
pub(crate) const BEDROCK: ProviderRules = ProviderRules {
    whole: &[root::require_object_root, root::forbid_composed_root, meta_schema::require_2020_12],
    each: &[|subschema, report| {
        keywords::forbid(subschema, &["$ref", "$dynamicRef", "$defs", "definitions"], report);
    }],
    ..NO_RULES
};

/// DeepSeek with strict mode.
pub(crate) const DEEPSEEK_STRICT: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        root::forbid_composed_root,
        meta_schema::require_2020_12,
        definition_refs::require_known_definitions,
    ],
    keywords: Some(&[
        "type", "description", "enum", "const", "anyOf", "allOf", "$defs", "$ref", "pattern",
        "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "items", "properties", "required", "additionalProperties",
    ]),
    each: &[
        |subschema, report| keywords::forbid_below_root(subschema, "$defs", report),
        |subschema, report| {
            let formats = ["email", "hostname", "ipv4", "ipv6", "uuid"];
            keywords::allow_formats(subschema, &formats, report);
        },
        |subschema, report| {
            value_types::require_type(subschema, &["$ref", "anyOf", "allOf"], report)
        },
        value_types::require_items,
        value_types::require_values_match_type,
        object_properties::require_properties,
        object_properties::require_nonempty,
        object_properties::require_closed,
        object_properties::require_all_required,
        object_properties::require_declared_required,
        pattern::forbid_lookaround,
        forbid_containers_in_type_list,
        limit_all_of_to_one,
        forbid_ref_in_any_of,
    ],
    ..NO_RULES
};

fn forbid_containers_in_type_list(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let contains = |json_type| value_types::has_type(subschema, json_type);
    if subschema.get("type").is_some_and(Value::is_array)
        && (contains("object") || contains("array"))
    {
        report.reject(subschema, "a list of types may not contain `object` or `array`");
    }
}

fn limit_all_of_to_one(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if subschema.get("allOf").and_then(Value::as_array).is_some_and(|all| all.len() > 1) {
        report.reject(subschema, "an `allOf` of more than one schema is not accepted");
    }
}

fn forbid_ref_in_any_of(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let is_choice =
        |subschema: &Subschema<'_>| matches!(subschema.segment, PathSegment::Index("anyOf", _));
    if subschema.get("$ref").is_some()
        && report.subschemas().self_and_ancestors(subschema).any(is_choice)
    {
        report.reject(subschema, "`$ref` is not accepted inside `anyOf`");
    }
}
