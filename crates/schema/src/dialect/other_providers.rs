//! Providers with variants of OpenAI's or Anthropic's API, and MCP, which accepts any JSON Schema.

use super::{ANY_JSON_SCHEMA, DialectRules, NameRule, NormalForm, NullStyle, is_word_or_dash};
use crate::lower::pass::{
    all_of, booleans, bounds, enums, formats, nulls, objects, optional_as_null, refs, root, tuples,
    unions, unsupported_keywords,
};

pub(super) static MISTRAL: DialectRules = DialectRules {
    name: "mistral",
    about: "Mistral; every schema is read as Draft 7, and its strict mode is not documented, so it stays off",
    passes: &[
        booleans::run,
        refs::keep_recursive,
        all_of::run,
        tuples::tuples_to_draft_7,
        root::require_single_object,
        unsupported_keywords::run,
        refs::remove_unused_definitions,
    ],
    keywords: Some(&[
        "$defs", "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf", "const",
        "contains", "default", "description", "else", "enum", "exclusiveMaximum",
        "exclusiveMinimum", "format", "if", "items", "maxItems", "maxLength", "maxProperties",
        "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not",
        "oneOf", "pattern", "patternProperties", "properties", "propertyNames", "required", "then",
        "title", "type", "uniqueItems",
    ]),
    ..ANY_JSON_SCHEMA
};

pub(super) static GROQ: DialectRules = DialectRules {
    name: "groq",
    about: "Groq; strict mode is documented for answers only, so it stays off for tools",
    passes: &[refs::keep_local, root::require_single_object],
    max_tools: Some(128),
    ..ANY_JSON_SCHEMA
};

pub(super) static DEEPSEEK: DialectRules = DialectRules {
    name: "deepseek",
    about: "DeepSeek; a limit of 128 tools is assumed",
    passes: &[refs::keep_local, root::require_single_object],
    max_tools: Some(128),
    ..ANY_JSON_SCHEMA
};

pub(super) static DEEPSEEK_STRICT: DialectRules = DialectRules {
    name: "deepseek-strict",
    about: "DeepSeek under its `/beta` address, `strict: true`; lengths are described only, for they are not known to be taken",
    normal_form: Some(NormalForm { refs: refs::inline, tuples: tuples::tuples_to_arrays }),
    passes: &[
        enums::run,
        bounds::run,
        formats::run,
        objects::require_declared_properties,
        objects::close_objects,
        optional_as_null::run,
        unsupported_keywords::run,
        unions::deduplicate_branches,
        nulls::run,
    ],
    keywords: Some(&[
        "additionalProperties", "anyOf", "description", "enum", "exclusiveMaximum",
        "exclusiveMinimum", "format", "items", "maximum", "minimum", "multipleOf", "pattern",
        "properties", "required", "type",
    ]),
    formats: Some(&["email", "hostname", "ipv4", "ipv6", "uuid"]),
    null_style: NullStyle::AnyOfBranch,
    allows_empty_objects: false,
    max_tools: Some(128),
    is_strict: true,
    ..ANY_JSON_SCHEMA
};

pub(super) static XAI: DialectRules = DialectRules {
    name: "xai",
    about: "xAI; OpenAI's limits are assumed, and lengths and `allOf` are reported not to be taken",
    normal_form: Some(NormalForm { refs: refs::keep_recursive, tuples: tuples::tuples_to_arrays }),
    passes: &[
        unsupported_keywords::run,
        unions::deduplicate_branches,
        refs::remove_unused_definitions,
    ],
    keywords: Some(&[
        "$defs", "$ref", "additionalProperties", "anyOf", "const", "default", "description",
        "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maximum", "minimum",
        "multipleOf", "pattern", "properties", "required", "type",
    ]),
    max_tools: Some(128),
    ..ANY_JSON_SCHEMA
};

pub(super) static BEDROCK: DialectRules = DialectRules {
    name: "bedrock",
    about: "Amazon Bedrock Converse; references are written out, because Nova wants it; strict mode stays off",
    passes: &[refs::inline, root::require_single_object],
    ..ANY_JSON_SCHEMA
};

pub(super) static MCP: DialectRules = DialectRules {
    name: "mcp",
    about: "Model Context Protocol 2026-07-28: any JSON Schema 2020-12 whose root is an object",
    passes: &[refs::keep_local, root::require_object_type],
    tool_name_rule: NameRule::new(128, is_mcp_name_char, is_mcp_name_char),
    ..ANY_JSON_SCHEMA
};

fn is_mcp_name_char(letter: char) -> bool {
    is_word_or_dash(letter) || letter == '.'
}
