//! Passes over keywords that combine schemas: `allOf`, `oneOf`, `anyOf`, `not`, `if`.

pub(crate) mod all_of;
pub(crate) mod conditions;
pub(crate) mod one_of;
pub(crate) mod unions;
