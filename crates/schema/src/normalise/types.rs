//! Normalises `type` and `nullable`: type names of other languages become JSON Schema types.

pub(crate) mod nullable;
pub(crate) mod type_expression;
pub(crate) mod type_keyword;
pub(crate) mod type_names;
pub(crate) mod type_parser;
