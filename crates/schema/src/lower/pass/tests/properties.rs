//! Tests of the passes over properties.

mod objects;
mod optional_as_null;
mod parameter_names;
mod property_order;
