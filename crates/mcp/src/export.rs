//! Tools, prompts, results and content in, the JSON of each protocol revision out.

pub(crate) mod content;
pub(crate) mod enum_values;
mod json_string;
pub(crate) mod prompt;
pub(crate) mod result;
pub(crate) mod tool;
