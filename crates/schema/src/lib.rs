//! JSON Schema for tools: parses arguments, validates them, and describes violations in sentences a model can act on.
//!
//! ```
//! # mod toolwright { pub use serde_json::json; pub extern crate toolwright_schema as schema; }
//! use toolwright::json;
//! use toolwright::schema::{InputLimits, Schema, Tape, coerce};
//!
//! let schema = Schema::check(json!({
//!     "type": "object",
//!     "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
//!     "required": ["city"],
//!     "additionalProperties": false
//! }))?;
//!
//! let tape = Tape::parse(r#"{"citty": "Rome", "days": "3"}"#, &InputLimits::default())?;
//! assert!(!schema.is_valid(tape.root()));
//!
//! let mut value = tape.to_value();
//! let notes = coerce(&mut value, &schema);
//! assert_eq!(notes[0].to_string(), r#"/days: "3" read as 3"#);
//!
//! let violations: Vec<String> = schema.violations(&value).iter().map(ToString::to_string).collect();
//! assert_eq!(violations, ["/citty: unknown argument; did you mean `city`?", "/city: missing; expected a string"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod tape;

mod schema;

mod arguments;

mod normalise;

mod dialect;
mod lower;

mod provider_rules;

mod canonical_json;
mod json_pointer;
mod text;
mod type_set;

/// The members of a JSON object: the keywords of a schema, or its properties by name.
pub(crate) type JsonObject = serde_json::Map<String, serde_json::Value>;

pub use arguments::{
    coerce::{Coercion, coerce},
    repair::{RepairError, Repaired, repair},
};
pub use canonical_json::canonical_json;
pub use dialect::{Dialect, NameRule, StrictBudget, UnknownDialect};
pub use json_pointer::escape_pointer_token;
pub use lower::{Loss, LowerError, Lowered, SchemaCost, Severity};
pub use normalise::{SchemaFix, normalise};
pub use provider_rules::{Rejection, validate_for, validate_tools_for};
pub use schema::{
    Schema, SchemaError, closed_objects::close_objects, type_coverage::is_enforced_by_type,
    violation::Violation,
};
pub use tape::{InputLimits, Node, ParseError, ReadError, Tape, read_scalar_members};
pub use text::nearest::{did_you_mean, fold_name, is_misspelling, nearest};
pub use text::redact::{looks_secret_name, looks_secret_value, redact};

/// Items that the other crates of the workspace use; not covered by semantic versioning.
#[doc(hidden)]
pub mod __internal {
    pub use crate::text::percent::{percent_decode, percent_decode_lossy, percent_encode};
}
