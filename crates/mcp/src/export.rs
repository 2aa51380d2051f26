//! Our types in, the wire's JSON out, as each revision has it.

pub(crate) mod content;
pub(crate) mod enum_values;
mod json_string;
pub(crate) mod prompt;
pub(crate) mod result;
pub(crate) mod tool;
