//! The schema of a response format, lowered to a dialect.

use serde_json::Value;
use toolwright_core::schema::{Dialect, Schema};

/// The strict variant of a dialect if lowering to it loses nothing, else the plain one; `None` if neither can express the schema.
pub(crate) fn strict_if_lossless(schema: &Schema, dialect: Dialect) -> Option<Dialect> {
    let plain = dialect.non_strict();
    let is_lossless = |strict: &Dialect| schema.lower(*strict).is_ok_and(|l| l.is_lossless());
    let strict = plain.strict().filter(is_lossless);
    strict.or_else(|| schema.lower(plain).ok().map(|_| plain))
}

/// Lowers a schema; unchanged if there is no dialect.
pub(crate) fn lower_schema(schema: &Schema, dialect: Option<Dialect>) -> Value {
    let lowered = dialect.and_then(|dialect| schema.lower(dialect).ok());
    lowered.map_or_else(|| schema.as_value(), |lowered| lowered.schema()).clone()
}
