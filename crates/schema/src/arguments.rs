//! Repairs and converts the arguments that a model sent: broken JSON text, and values of the wrong type.

pub(crate) mod coerce;
pub(crate) mod repair;
