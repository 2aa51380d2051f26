//! The subset that every provider supports: plain types, `anyOf` and `enum`.

use super::{
    ANY_JSON_SCHEMA, DialectRules, NameRule, NormalForm, NullStyle, is_letter_or_underscore,
    is_word_char,
};
use crate::lower::pass::{
    enums, nulls, objects, parameter_names, refs, tuples, unions, unsupported_keywords,
};

pub(super) static RULES: DialectRules = DialectRules {
    name: "portable",
    about: "string, integer, number, boolean, array, object, `anyOf` and `enum`: what all of them have in common",
    normal_form: Some(NormalForm { refs: refs::inline, tuples: tuples::tuples_to_arrays }),
    passes: &[
        enums::run,
        objects::require_declared_properties,
        parameter_names::run,
        unsupported_keywords::run,
        unions::deduplicate_branches,
        nulls::run,
        unions::isolate_any_of,
    ],
    keywords: Some(&["anyOf", "description", "enum", "items", "properties", "required", "type"]),
    formats: Some(&[]),
    null_style: NullStyle::Unsupported,
    enums_of_strings_only: true,
    allows_empty_objects: false,
    parameter_name_rule: Some(NameRule::new(64, is_letter_or_underscore, is_word_char)),
    tool_name_rule: NameRule::new(64, is_letter_or_underscore, is_word_char),
    max_tools: Some(128),
    ..ANY_JSON_SCHEMA
};
