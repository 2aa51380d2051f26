//! What every provider understands: plain types, `anyOf` and `enum`.

use super::{ANYTHING, Enums, NameRule, Nulls, Rules, letter_or_underscore, word};
use crate::pass::{
    all_of, booleans, conditions, constants, enums, keywords, noise, nulls, objects, one_of,
    parameter_names, refs, root, tuples, types, unions,
};

pub(super) static RULES: Rules = Rules {
    name: "portable",
    about: "string, integer, number, boolean, array, object, `anyOf` and `enum`: what all of them have in common",
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
        objects::declare,
        parameter_names::run,
        keywords::run,
        unions::distinct,
        nulls::run,
        unions::alone,
    ],
    keywords: Some(&[
        "anyOf",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "type",
    ]),
    formats: Some(&[]),
    nulls: Nulls::Never,
    enums: Enums::Strings,
    empty_objects: false,
    parameter_name: Some(NameRule::new(64, letter_or_underscore, word)),
    tool_name: NameRule::new(64, letter_or_underscore, word),
    most_tools: Some(128),
    ..ANYTHING
};
