//! Passes over what one value may be: its type, `enum`, `const`, null, format and bounds.

pub(crate) mod booleans;
pub(crate) mod bounds;
pub(crate) mod constants;
pub(crate) mod enums;
pub(crate) mod formats;
pub(crate) mod json_text;
pub(crate) mod nulls;
pub(crate) mod types;
