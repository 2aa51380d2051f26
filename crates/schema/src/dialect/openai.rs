//! OpenAI: any schema of an object, or the smaller subset of strict mode.

use super::{ANY_JSON_SCHEMA, Dialect, DialectRules, NormalForm, SizeLimits};
use crate::lower::pass::{
    bounds, formats, nulls, objects, optional_as_null, refs, root, size_limits, tuples, unions,
    unsupported_keywords,
};

pub(super) static NON_STRICT: DialectRules = DialectRules {
    name: "openai",
    about: "OpenAI, Responses and Chat Completions, `strict: false`",
    passes: &[refs::keep_local, root::require_single_object],
    max_tools: Some(128),
    strict_dialect: Some(Dialect::OPENAI_STRICT),
    ..ANY_JSON_SCHEMA
};

pub(super) static STRICT: DialectRules = DialectRules {
    name: "openai-strict",
    about: "OpenAI, `strict: true`; lengths of strings are described only, for not every model takes them",
    normal_form: Some(NormalForm { refs: refs::keep_recursive, tuples: tuples::tuples_to_arrays }),
    passes: &[
        bounds::run,
        formats::run,
        objects::require_declared_properties,
        objects::close_objects,
        optional_as_null::run,
        unsupported_keywords::run,
        size_limits::run,
        unions::deduplicate_branches,
        nulls::run,
        unions::wrap_described_refs,
        refs::remove_unused_definitions,
    ],
    keywords: Some(&[
        "$defs", "$ref", "additionalProperties", "anyOf", "description", "enum",
        "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maximum",
        "minItems", "minimum", "multipleOf", "pattern", "properties", "required", "type",
    ]),
    formats: Some(STRICT_FORMATS),
    size_limits: Some(SizeLimits {
        max_depth: 10,
        max_properties: 5_000,
        max_enum_values: 1_000,
        max_long_enum_characters: 15_000,
        max_characters: 120_000,
    }),
    max_tools: Some(128),
    is_strict: true,
    ..ANY_JSON_SCHEMA
};

const STRICT_FORMATS: &[&str] =
    &["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];
