//! Ollama, which silently ignores keywords that its own structs have no field for.

use super::{ANY_JSON_SCHEMA, DialectRules, NormalForm};
use crate::lower::pass::{nulls, refs, root, tuples, unions, unsupported_keywords};

pub(super) static RULES: DialectRules = DialectRules {
    name: "ollama",
    about: "Ollama's own API and its OpenAI form; no limit on names is known, OpenAI's is kept",
    normal_form: Some(NormalForm { refs: refs::inline, tuples: tuples::tuples_to_arrays }),
    passes: &[
        unsupported_keywords::run,
        unions::deduplicate_branches,
        root::move_annotations_out,
        nulls::run,
    ],
    keywords: Some(&["anyOf", "description", "enum", "items", "properties", "required", "type"]),
    formats: Some(&[]),
    ..ANY_JSON_SCHEMA
};
