//! Anthropic: JSON Schema 2020-12 with an object at the root, and a smaller strict mode.

use super::{ANYTHING, Dialect, Enums, NameRule, Rules, StrictBudget, Strictness, word_or_dash};
use crate::pass::{
    all_of, booleans, bounds, conditions, constants, enums, formats, keywords, noise, nulls,
    objects, one_of, refs, root, shares, tuples, types, unions,
};

/// 128 for the API; 64 where a remote MCP server is attached to an app, which is another road.
const NAMES: NameRule = NameRule::new(128, word_or_dash, word_or_dash);

pub(super) static PLAIN: Rules = Rules {
    name: "anthropic",
    about: "Anthropic Messages, `strict: false`",
    passes: &[refs::local, root::single],
    tool_name: NAMES,
    strict: Strictness {
        twin: Some(Dialect::ANTHROPIC_STRICT),
        ..Strictness::NONE
    },
    ..ANYTHING
};

pub(super) static STRICT: Rules = Rules {
    name: "anthropic-strict",
    about: "Anthropic Messages, `strict: true`; patterns are described only, as its own SDKs do",
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
        bounds::at_most_one_item,
        objects::close,
        keywords::run,
        shares::run,
        unions::distinct,
        nulls::run,
    ],
    keywords: Some(&[
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "minItems",
        "properties",
        "required",
        "type",
    ]),
    formats: Some(&[
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "time",
        "uri",
        "uuid",
    ]),
    enums: Enums::Primitives,
    tool_name: NAMES,
    strict: Strictness {
        on: true,
        twin: None,
        budget: StrictBudget {
            tools: Some(20),
            optional: Some(24),
            unions: Some(16),
        },
    },
    ..ANYTHING
};
