//! Tests of the passes over `allOf`, `oneOf`, `anyOf` and conditions.

mod all_of;
mod conditions;
mod one_of;
mod unions;
