//! The steps of lowering: each pass rewrites one kind of construct into a form that the dialect supports.
//!
//! A pass depends only on the schema and its dialect's rules. The dialect chooses the passes; all dialects keep the same
//! order. A pass either rewrites a construct without changing its meaning, or reports a loss.
//!
//! After [`types`] every schema has one of four forms, on which the later passes rely:
//!
//! * *typed*: one `type`, a string; only keywords that apply to that type;
//! * *union*: `anyOf` of two or more typed schemas or references, and annotations, nothing else;
//! * *any*: no assertion at all;
//! * *reference*: `$ref` to `#/$defs/NAME` and annotations; only in recursive schemas.
//!
//! `null` is a branch of a union until [`nulls`] gives it the dialect's form.

use crate::lower::{LowerError, LoweringState};

mod arrays;
mod budgets;
mod composition;
mod keywords;
mod properties;
pub(crate) mod refs;
pub(crate) mod root;
mod values;

pub(crate) use arrays::{item_counts, tuples};
pub(crate) use budgets::{size_limits, strict_budget};
pub(crate) use composition::{all_of, conditions, one_of, unions};
pub(crate) use keywords::{annotations, applies_to, describe, unsupported_keywords};
pub(crate) use properties::{objects, optional_as_null, parameter_names, property_order};
pub(crate) use values::{booleans, bounds, constants, enums, formats, json_text, nulls, types};

/// One step of lowering.
pub(crate) type Pass = fn(&mut LoweringState) -> Result<(), LowerError>;

#[cfg(test)]
mod tests;
