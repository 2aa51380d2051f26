//! Generates values of each JSON type.

pub(crate) mod array;
pub(crate) mod format;
pub(crate) mod number;
pub(crate) mod object;
pub(crate) mod pattern;
pub(crate) mod schema_values;
pub(crate) mod text;
