//! JSON Schema for tools: `text → tape → verdict, typed value, or a sentence a model can act on`.

mod canonical;
mod close;
mod coerce;
mod enforce;
mod nearest;
mod redact;
mod repair;
mod schema;
mod tape;
mod violation;

pub use canonical::canonical;
pub use close::close_objects;
pub use coerce::{Coercion, coerce};
pub use enforce::types_enforce;
pub use nearest::{fold_name, nearest};
pub use redact::{looks_secret_name, looks_secret_value, redact};
pub use repair::{Repaired, Unrepairable, repair};
pub use schema::{Schema, SchemaError};
pub use tape::{Limits, Node, ParseError, ReadError, Tape};
pub use violation::Violation;
