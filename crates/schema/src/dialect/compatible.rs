//! Providers that speak OpenAI's or Anthropic's language with differences, and MCP, which takes any JSON Schema.

use super::{ANYTHING, Enums, NameRule, Nulls, Rules, Strictness, WORDS_64, word_or_dash};
use crate::pass::{
    all_of, booleans, bounds, budgets, conditions, constants, enums, formats, keywords, noise,
    nulls, objects, one_of, optional, refs, root, tuples, types, unions,
};

pub(super) static MISTRAL: Rules = Rules {
    name: "mistral",
    about: "Mistral; every schema is read as Draft 7, and its strict mode is not documented, so it stays off",
    passes: &[
        booleans::run,
        refs::hoist,
        all_of::run,
        tuples::as_draft_7,
        root::single,
        keywords::run,
        refs::prune,
    ],
    keywords: Some(&[
        "$defs",
        "$ref",
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "default",
        "description",
        "else",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "if",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "properties",
        "propertyNames",
        "required",
        "then",
        "title",
        "type",
        "uniqueItems",
    ]),
    ..ANYTHING
};

pub(super) static GROQ: Rules = Rules {
    name: "groq",
    about: "Groq; strict mode is documented for answers only, so it stays off for tools",
    passes: &[refs::local, root::single],
    most_tools: Some(128),
    ..ANYTHING
};

pub(super) static DEEPSEEK: Rules = Rules {
    name: "deepseek",
    about: "DeepSeek; a limit of 128 tools is assumed",
    passes: &[refs::local, root::single],
    most_tools: Some(128),
    strict: Strictness {
        twin: None,
        ..Strictness::NONE
    },
    ..ANYTHING
};

pub(super) static DEEPSEEK_STRICT: Rules = Rules {
    name: "deepseek-strict",
    about: "DeepSeek under its `/beta` address, `strict: true`; lengths are described only, for they are not known to be taken",
    passes: &[
        booleans::run,
        refs::inline,
        noise::run,
        constants::run,
        all_of::run,
        one_of::run,
        conditions::run,
        tuples::widen,
        types::run,
        root::single,
        enums::run,
        bounds::run,
        formats::run,
        objects::declare,
        objects::close,
        optional::run,
        keywords::run,
        budgets::run,
        unions::distinct,
        nulls::run,
    ],
    keywords: Some(&[
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maximum",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "type",
    ]),
    formats: Some(&["email", "hostname", "ipv4", "ipv6", "uuid"]),
    nulls: Nulls::Branch,
    enums: Enums::Primitives,
    empty_objects: false,
    most_tools: Some(128),
    strict: Strictness {
        on: true,
        ..Strictness::NONE
    },
    ..ANYTHING
};

pub(super) static XAI: Rules = Rules {
    name: "xai",
    about: "xAI; OpenAI's limits are assumed, and lengths and `allOf` are reported not to be taken",
    passes: &[
        booleans::run,
        refs::hoist,
        noise::run,
        constants::run,
        all_of::run,
        one_of::run,
        conditions::run,
        tuples::widen,
        types::run,
        root::single,
        keywords::run,
        unions::distinct,
        refs::prune,
    ],
    keywords: Some(&[
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maximum",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "type",
    ]),
    most_tools: Some(128),
    ..ANYTHING
};

pub(super) static BEDROCK: Rules = Rules {
    name: "bedrock",
    about: "Amazon Bedrock Converse; references are written out, because Nova wants it; strict mode stays off",
    passes: &[refs::inline, root::single],
    tool_name: WORDS_64,
    ..ANYTHING
};

pub(super) static MCP: Rules = Rules {
    name: "mcp",
    about: "Model Context Protocol 2026-07-28: any JSON Schema 2020-12 whose root is an object",
    passes: &[refs::local, root::object],
    tool_name: NameRule::new(128, mcp_letter, mcp_letter),
    ..ANYTHING
};

fn mcp_letter(letter: char) -> bool {
    word_or_dash(letter) || letter == '.'
}
