//! Gemini, whose function declarations accept one of two forms of schema.

use super::{
    ANY_JSON_SCHEMA, DialectRules, NameRule, NormalForm, NullStyle, is_letter_or_underscore,
    is_word_char,
};
use crate::lower::pass::{
    bounds, enums, formats, item_counts, nulls, objects, parameter_names, property_order, refs,
    tuples, unions, unsupported_keywords,
};

const TOOL_NAMES: NameRule = NameRule::new(128, is_letter_or_underscore, |letter| {
    is_word_char(letter) || matches!(letter, '.' | ':' | '-')
});

const PARAMETER_NAMES: NameRule = NameRule::new(64, is_letter_or_underscore, is_word_char);

pub(super) static JSON_SCHEMA: DialectRules = DialectRules {
    name: "gemini",
    about: "Gemini, `parametersJsonSchema`; keywords it is not known to read are described",
    normal_form: Some(NormalForm { refs: refs::keep_recursive, tuples: tuples::close_tuples }),
    passes: &[
        enums::run,
        bounds::run,
        formats::run,
        item_counts::run,
        parameter_names::run,
        unsupported_keywords::run,
        unions::deduplicate_branches,
        property_order::run,
        nulls::run,
        unions::wrap_described_refs,
        refs::remove_unused_definitions,
    ],
    keywords: Some(&[
        "$defs", "$ref", "additionalProperties", "anyOf", "description", "enum", "items",
        "maxItems", "maximum", "minItems", "minimum", "prefixItems", "properties",
        "propertyOrdering", "required", "type",
    ]),
    formats: Some(&[]),
    parameter_name_rule: Some(PARAMETER_NAMES),
    tool_name_rule: TOOL_NAMES,
    max_tools: Some(512),
    max_items_total: Some(960),
    ..ANY_JSON_SCHEMA
};

pub(super) static OPENAPI: DialectRules = DialectRules {
    name: "gemini-openapi",
    about: "Gemini, `parameters`, the only form of the Live API; read as the Gemini API does, which is stricter than Vertex",
    normal_form: Some(NormalForm { refs: refs::inline, tuples: tuples::tuples_to_arrays }),
    passes: &[
        enums::run,
        bounds::run,
        formats::run,
        item_counts::run,
        objects::require_declared_properties,
        parameter_names::run,
        unsupported_keywords::run,
        unions::deduplicate_branches,
        property_order::run,
        nulls::run,
        unions::isolate_any_of,
    ],
    keywords: Some(&[
        "anyOf", "description", "enum", "format", "items", "maxItems", "maxLength",
        "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum",
        "nullable", "pattern", "properties", "propertyOrdering", "required", "type",
    ]),
    formats: Some(&["date-time", "int32", "int64"]),
    null_style: NullStyle::NullableKeyword,
    enums_of_strings_only: true,
    allows_empty_objects: false,
    parameter_name_rule: Some(PARAMETER_NAMES),
    tool_name_rule: TOOL_NAMES,
    max_tools: Some(512),
    max_items_total: Some(960),
    ..ANY_JSON_SCHEMA
};
