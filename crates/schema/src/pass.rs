//! What lowering is made of: each pass takes a draft and makes one kind of thing sayable in the dialect.
//!
//! A pass is pure and looks at nothing but the draft and its dialect's rules. The order matters and is the dialect's; the
//! table below is the order all of them keep. A pass either says the same in other words, or reports a loss.
//!
//! After [`types`] every schema has one of four forms, on which the later passes rely:
//!
//! * *typed*: one `type`, a string; only keywords that speak about that type;
//! * *union*: `anyOf` of two or more typed schemas or references, and annotations, nothing else;
//! * *any*: no assertion at all;
//! * *reference*: `$ref` to `#/$defs/NAME` and annotations; only where a schema contains itself.
//!
//! `null` is a branch of a union until [`nulls`] gives it the dialect's form.

use crate::lower::{LowerError, LoweringState};

pub(crate) mod all_of;
pub(crate) mod annotations;
pub(crate) mod applies_to;
pub(crate) mod booleans;
pub(crate) mod bounds;
pub(crate) mod conditions;
pub(crate) mod constants;
pub(crate) mod describe;
pub(crate) mod enums;
pub(crate) mod formats;
pub(crate) mod item_counts;
mod json_text;
pub(crate) mod nulls;
pub(crate) mod objects;
pub(crate) mod one_of;
pub(crate) mod optional_as_null;
pub(crate) mod parameter_names;
pub(crate) mod property_order;
pub(crate) mod refs;
pub(crate) mod root;
pub(crate) mod size_limits;
pub(crate) mod strict_budget;
pub(crate) mod tuples;
pub(crate) mod types;
pub(crate) mod unions;
pub(crate) mod unsupported_keywords;

/// One step of lowering.
pub(crate) type Pass = fn(&mut LoweringState) -> Result<(), LowerError>;

#[cfg(test)]
mod tests;
