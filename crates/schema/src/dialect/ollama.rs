//! Ollama, which silently ignores keywords that its own structs have no field for.

use super::{ANY_JSON_SCHEMA, DialectRules};
use crate::lower::pass::{
    all_of, annotations, booleans, conditions, constants, enums, nulls, one_of, refs, root, tuples,
    types, unions, unsupported_keywords,
};

pub(super) static RULES: DialectRules = DialectRules {
    name: "ollama",
    about: "Ollama's own API and its OpenAI form; no limit on names is known, OpenAI's is kept",
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
        unsupported_keywords::run,
        unions::deduplicate_branches,
        root::move_annotations_out,
        nulls::run,
    ],
    keywords: Some(&["anyOf", "description", "enum", "items", "properties", "required", "type"]),
    formats: Some(&[]),
    ..ANY_JSON_SCHEMA
};
