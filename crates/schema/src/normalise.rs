//! Converts imprecise or foreign schemas to JSON Schema 2020-12, with a note for every change.
//!
//! A schema that cannot be understood is rejected with its path: if it were silently emptied, the tool would be called
//! without the arguments it needs.

mod keyword_table;
mod keyword_values;
mod legacy_keywords;
mod literal_values;
mod properties;
mod root;
mod size_limit;
mod subschemas;
mod tuple_items;
mod types;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::json_pointer::{push_pointer_token, write_message_at};
use crate::{JsonObject, SchemaError};
use properties::{bare_properties, property_map, required_flag, required_list};
use required_flag::RequiredFlag;
use types::{nullable, type_expression, type_keyword, type_names, type_parser};

/// One change that was made to a schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaFix {
    /// The JSON pointer of the schema that was changed, empty for the whole.
    pub pointer: String,
    /// What was changed.
    pub message: String,
}

impl fmt::Display for SchemaFix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message_at(f, &self.pointer, &self.message)
    }
}

/// Converts a schema as other software writes it to the 2020-12 schema that it means.
///
/// Understands the type names of other languages, older drafts, OpenAPI and Gemini, and common mistakes of authors and
/// generators. A valid schema stays unchanged, byte for byte, without notes. References are never followed.
/// [`Schema::check`](crate::Schema::check) decides whether the result compiles.
///
/// # Errors
///
/// Rejects, with the path, what cannot be understood, and what is too large or too deep; the schema is then partly changed.
///
/// # Examples
///
/// ```
/// # mod toolwright { pub use serde_json::json; pub extern crate toolwright_schema as schema; }
/// use toolwright::json;
/// use toolwright::schema::normalise;
///
/// let mut schema = json!({"type": "dict", "properties": {"cities": {"type": "list[str]"}}});
/// let notes = normalise(&mut schema)?;
/// assert_eq!(schema["properties"]["cities"], json!({"type": "array", "items": {"type": "string"}}));
/// assert_eq!(notes[0].to_string(), r#"type "dict" read as "object""#);
///
/// let mut typo = json!({"type": "object", "properties": {"city": {"type": "strng"}}});
/// let error = normalise(&mut typo).unwrap_err();
/// assert_eq!(error.to_string(), r#"/properties/city/type: "strng" is no type; did you mean `string`?"#);
/// # Ok::<(), toolwright::schema::SchemaError>(())
/// ```
pub fn normalise(schema: &mut Value) -> Result<Vec<SchemaFix>, SchemaError> {
    size_limit::check_size(schema)?;
    let mut normaliser = Normaliser::default();
    root::prepare_root(&mut normaliser, schema)?;
    if let Some(flag) = normaliser.normalise_schema(schema)? {
        flag.note_dropped(&mut normaliser);
    }
    root::finish_root(&mut normaliser, schema)?;
    Ok(normaliser.fixes)
}

type NormaliseResult<T = ()> = Result<T, SchemaError>;

/// The current path, and the changes so far.
#[derive(Default)]
struct Normaliser {
    path: String,
    fixes: Vec<SchemaFix>,
}

impl Normaliser {
    /// Normalises a schema and its subschemas; returns its own required flag, if it has one.
    fn normalise_schema(&mut self, value: &mut Value) -> NormaliseResult<Option<RequiredFlag>> {
        match value {
            Value::Object(members) => self.normalise_members(members),
            Value::Bool(_) => Ok(None),
            Value::Null => {
                self.add_fix("null read as any value");
                *value = Value::Object(JsonObject::new());
                Ok(None)
            }
            Value::String(text) => {
                let text = std::mem::take(text);
                let (read, flag) = type_keyword::schema_from_type_name(self, &text)?;
                *value = read;
                Ok(flag)
            }
            Value::Number(_) | Value::Array(_) => {
                let shown = self.excerpt(value);
                Err(self.error(format!("a schema is an object or a boolean, not {shown}")))
            }
        }
    }

    /// The stages, ordered so that each can rely on the previous ones.
    fn normalise_members(
        &mut self,
        members: &mut JsonObject,
    ) -> NormaliseResult<Option<RequiredFlag>> {
        bare_properties::collect_bare_properties(self, members)?;
        keyword_values::normalise_values(self, members)?;
        legacy_keywords::upgrade_keywords(self, members)?;
        let flag = type_keyword::normalise_type(self, members)?;
        tuple_items::normalise_tuple_items(self, members)?;
        let flag = RequiredFlag::extract(self, members, flag)?;
        property_map::normalise_properties(self, members)?;
        subschemas::normalise_subschemas(self, members)?;
        literal_values::normalise_lists(self, members)?;
        nullable::replace_nullable(self, members);
        literal_values::convert_to_type(self, members)?;
        Ok(flag)
    }

    fn add_fix(&mut self, message: impl Into<String>) {
        self.fixes.push(SchemaFix { pointer: self.path.clone(), message: message.into() });
    }

    fn error(&self, message: impl Into<String>) -> SchemaError {
        SchemaError::new(self.path.as_str(), message)
    }

    /// An error about one keyword of the current schema.
    fn error_at(&self, keyword: &str, message: impl Into<String>) -> SchemaError {
        let mut path = self.path.clone();
        push_pointer_token(&mut path, keyword);
        SchemaError::new(path, message)
    }

    fn with_path_segment<T>(&mut self, step: &str, action: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        push_pointer_token(&mut self.path, step);
        let outcome = action(self);
        self.path.truncate(length);
        outcome
    }

    /// An error about a keyword whose value is not of the type that it needs.
    fn expected(&self, keyword: &str, wanted: &str, value: &Value) -> SchemaError {
        self.error_at(keyword, format!("expected {wanted}, got {}", self.excerpt(value)))
    }

    /// A value for messages: truncated, and with secrets redacted.
    fn excerpt(&self, value: &Value) -> String {
        crate::schema::violation::excerpt(value, &self.path)
    }
}

#[cfg(test)]
mod tests;
