//! A sloppy schema, or one of another dialect, in; the 2020-12 schema that it means out, with a note for every change.
//!
//! What cannot be understood is refused with its place: a definition that is quietly emptied would be called without the
//! arguments it needs.

mod arrays;
mod bound;
mod children;
mod expression;
mod flat;
mod kinds;
mod nullable;
mod objects;
mod older;
mod parse;
mod required;
mod root;
mod shapes;
mod values;
mod vocabulary;
mod wish;
mod words;

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::SchemaError;
use wish::Wish;

/// One thing that was read otherwise than it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The JSON pointer of the schema that was changed, empty for the whole.
    pub pointer: String,
    /// What was changed there.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

/// Turns a schema as other software writes it into the 2020-12 schema that it means.
///
/// It reads the type words of other languages, older drafts, OpenAPI and Gemini, and what hands and generators often get
/// wrong. A schema that is right already stays as it is, to the byte, with no notes. References are never followed. Whether
/// the outcome compiles is for [`Schema::check`](crate::Schema::check) to say.
///
/// # Errors
///
/// Refuses, with the place, what cannot be understood, and what is too large or too deep; the schema is then half changed.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::normalise;
///
/// let mut schema = json!({"type": "dict", "properties": {"cities": {"type": "list[str]"}}});
/// let notes = normalise(&mut schema)?;
/// assert_eq!(schema["properties"]["cities"], json!({"type": "array", "items": {"type": "string"}}));
/// assert_eq!(notes[0].to_string(), r#"type "dict" read as "object""#);
///
/// let mut typo = json!({"type": "object", "properties": {"city": {"type": "strng"}}});
/// let refused = normalise(&mut typo).unwrap_err();
/// assert_eq!(refused.to_string(), r#"/properties/city/type: "strng" is no type; did you mean `string`?"#);
/// # Ok::<(), toolwright_schema::SchemaError>(())
/// ```
pub fn normalise(schema: &mut Value) -> Result<Vec<Note>, SchemaError> {
    bound::check(schema)?;
    let mut walker = Walker::default();
    root::open(&mut walker, schema)?;
    if let Some(wish) = walker.schema(schema)? {
        wish.dismiss(&mut walker);
    }
    root::close(&mut walker, schema)?;
    Ok(walker.notes)
}

type Members = Map<String, Value>;
type Outcome<T = ()> = Result<T, SchemaError>;

/// Where we are, and what was changed so far.
#[derive(Default)]
struct Walker {
    path: String,
    notes: Vec<Note>,
}

impl Walker {
    /// Mends a schema and all below it; returns what it says about its own being required.
    fn schema(&mut self, value: &mut Value) -> Outcome<Option<Wish>> {
        match value {
            Value::Object(members) => self.members(members),
            Value::Bool(_) => Ok(None),
            Value::Null => {
                self.note("null read as any value");
                *value = Value::Object(Members::new());
                Ok(None)
            }
            Value::String(text) => {
                let text = std::mem::take(text);
                let (read, wish) = kinds::word_alone(self, &text)?;
                *value = read;
                Ok(wish)
            }
            Value::Number(_) | Value::Array(_) => Err(self.error(format!(
                "a schema is an object or a boolean, not {}",
                self.show(value)
            ))),
        }
    }

    /// The stages, in the order in which each can rely on those before it.
    fn members(&mut self, members: &mut Members) -> Outcome<Option<Wish>> {
        flat::gather(self, members)?;
        shapes::mend(self, members)?;
        older::mend(self, members)?;
        let wish = kinds::mend(self, members)?;
        arrays::mend(self, members)?;
        let wish = Wish::take(self, members, wish)?;
        objects::mend(self, members)?;
        children::mend(self, members)?;
        values::make_lists(self, members)?;
        nullable::mend(self, members);
        values::fit(self, members)?;
        Ok(wish)
    }

    fn note(&mut self, message: impl Into<String>) {
        self.notes.push(Note {
            pointer: self.path.clone(),
            message: message.into(),
        });
    }

    fn error(&self, message: impl Into<String>) -> SchemaError {
        SchemaError::new(self.path.as_str(), message)
    }

    /// An error about one keyword of the schema we are at.
    fn error_at(&self, keyword: &str, message: impl Into<String>) -> SchemaError {
        let mut path = self.path.clone();
        push(&mut path, keyword);
        SchemaError::new(path, message)
    }

    fn below<T>(&mut self, step: &str, mend: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.path.len();
        push(&mut self.path, step);
        let outcome = mend(self);
        self.path.truncate(here);
        outcome
    }

    /// A value as it is shown to people: short, and without secrets.
    fn show(&self, value: &Value) -> String {
        crate::violation::show(value, &self.path)
    }
}

fn push(path: &mut String, step: &str) {
    path.push('/');
    for letter in step.chars() {
        match letter {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            _ => path.push(letter),
        }
    }
}

#[cfg(test)]
mod tests;
