//! Checks that providers have in common; each reports a [`Rejection`](super::Rejection).

pub(crate) mod definition_refs;
pub(crate) mod keywords;
pub(crate) mod local_refs;
pub(crate) mod meta_schema;
pub(crate) mod object_properties;
pub(crate) mod pattern;
pub(crate) mod root;
pub(crate) mod value_types;
