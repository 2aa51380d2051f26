//! Fixes what a model sent as arguments: repairs broken JSON text, converts values to the types the schema asks for.

pub(crate) mod coerce;
pub(crate) mod repair;
