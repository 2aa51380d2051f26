//! OpenAI: anything goes, unless strict mode holds the model to the schema.

use super::{ANYTHING, Budget, Dialect, Rules, Strictness};
use crate::pass::{
    all_of, booleans, bounds, budgets, conditions, constants, enums, formats, keywords, noise,
    nulls, objects, one_of, optional, refs, root, tuples, types, unions,
};

pub(super) static PLAIN: Rules = Rules {
    name: "openai",
    about: "OpenAI, Responses and Chat Completions, `strict: false`",
    passes: &[refs::local, root::single],
    most_tools: Some(128),
    strict: Strictness {
        twin: Some(Dialect::OPENAI_STRICT),
        ..Strictness::NONE
    },
    ..ANYTHING
};

pub(super) static STRICT: Rules = Rules {
    name: "openai-strict",
    about: "OpenAI, `strict: true`; lengths of strings are described only, for not every model takes them",
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
        unions::around_references,
        refs::prune,
    ],
    keywords: Some(&[
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "type",
    ]),
    formats: Some(FORMATS),
    budget: Budget {
        depth: Some(10),
        properties: Some(5_000),
        enum_values: Some(1_000),
        long_enum: Some(15_000),
        characters: Some(120_000),
    },
    most_tools: Some(128),
    strict: Strictness {
        on: true,
        ..Strictness::NONE
    },
    ..ANYTHING
};

const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
];
