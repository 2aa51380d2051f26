//! Anthropic: JSON Schema 2020-12 with an object at the root, and a smaller strict mode.

use super::{
    ANY_JSON_SCHEMA, Dialect, DialectRules, EnumValues, NameRule, StrictBudget, StrictMode,
    is_word_or_dash,
};
use crate::lower::pass::{
    all_of, annotations, booleans, bounds, conditions, constants, enums, formats, nulls, objects,
    one_of, refs, root, strict_budget, tuples, types, unions, unsupported_keywords,
};

/// 128 for the API; 64 where a remote MCP server is attached to an app, which is a different API.
const TOOL_NAMES: NameRule = NameRule::new(128, is_word_or_dash, is_word_or_dash);

pub(super) static NON_STRICT: DialectRules = DialectRules {
    name: "anthropic",
    about: "Anthropic Messages, `strict: false`",
    passes: &[refs::keep_local, root::require_single_object],
    tool_name_rule: TOOL_NAMES,
    strict_mode: StrictMode { strict_dialect: Some(Dialect::ANTHROPIC_STRICT), ..StrictMode::NONE },
    ..ANY_JSON_SCHEMA
};

pub(super) static STRICT: DialectRules = DialectRules {
    name: "anthropic-strict",
    about: "Anthropic Messages, `strict: true`; patterns are described only, as its own SDKs do",
    passes: &[
        booleans::run,
        refs::inline,
        annotations::run,
        constants::run,
        all_of::run,
        one_of::run,
        conditions::run,
        tuples::tuples_to_arrays,
        types::run,
        root::require_single_object,
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
    enum_values: EnumValues::Primitives,
    tool_name_rule: TOOL_NAMES,
    strict_mode: StrictMode {
        enabled: true,
        strict_dialect: None,
        request_budget: StrictBudget {
            max_strict_tools: Some(20),
            max_optional_parameters: Some(24),
            max_union_parameters: Some(16),
        },
    },
    ..ANY_JSON_SCHEMA
};
