//! Tests of schemas through their public API.

mod corpus;
mod dialect_reference;
mod lowering;
mod meaning;
mod properties;
mod suite;
