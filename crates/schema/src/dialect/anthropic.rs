//! Anthropic: JSON Schema 2020-12 with an object at the root, and a smaller strict mode.

use super::{
    ANY_JSON_SCHEMA, Dialect, DialectRules, NameRule, NormalForm, StrictBudget, is_word_or_dash,
};
use crate::lower::pass::{
    bounds, enums, formats, nulls, objects, refs, root, strict_budget, tuples, unions,
    unsupported_keywords,
};

/// 128 for the API; 64 where a remote MCP server is attached to an app, which is a different API.
const TOOL_NAMES: NameRule = NameRule::new(128, is_word_or_dash, is_word_or_dash);

pub(super) static NON_STRICT: DialectRules = DialectRules {
    name: "anthropic",
    about: "Anthropic Messages, `strict: false`",
    passes: &[refs::keep_local, root::require_single_object],
    tool_name_rule: TOOL_NAMES,
    strict_dialect: Some(Dialect::ANTHROPIC_STRICT),
    ..ANY_JSON_SCHEMA
};

pub(super) static STRICT: DialectRules = DialectRules {
    name: "anthropic-strict",
    about: "Anthropic Messages, `strict: true`; patterns are described only, as its own SDKs do",
    normal_form: Some(NormalForm { refs: refs::inline, tuples: tuples::tuples_to_arrays }),
    passes: &[
        enums::run,
        bounds::run,
        formats::run,
        objects::require_declared_properties,
        bounds::limit_min_items_to_one,
        objects::close_objects,
        unsupported_keywords::run,
        strict_budget::run,
        unions::deduplicate_branches,
        nulls::run,
    ],
    keywords: Some(&[
        "additionalProperties", "anyOf", "description", "enum", "format", "items", "minItems",
        "properties", "required", "type",
    ]),
    formats: Some(&[
        "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid",
    ]),
    tool_name_rule: TOOL_NAMES,
    is_strict: true,
    strict_budget: StrictBudget {
        max_strict_tools: Some(20),
        max_optional_parameters: Some(24),
        max_union_parameters: Some(16),
    },
    ..ANY_JSON_SCHEMA
};
