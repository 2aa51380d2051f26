//! Passes over the properties of objects: declaration, `required`, order and names.

pub(crate) mod objects;
pub(crate) mod optional_as_null;
pub(crate) mod parameter_names;
pub(crate) mod property_order;
