//! Ollama, which drops in silence whatever its own structures have no field for.

use super::{ANYTHING, Rules};
use crate::pass::{
    all_of, booleans, conditions, constants, enums, keywords, noise, nulls, one_of, refs, root,
    tuples, types, unions,
};

pub(super) static RULES: Rules = Rules {
    name: "ollama",
    about: "Ollama's own API and its OpenAI form; no limit on names is known, OpenAI's is kept",
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
        keywords::run,
        unions::distinct,
        root::bare,
        nulls::run,
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
    ..ANYTHING
};
