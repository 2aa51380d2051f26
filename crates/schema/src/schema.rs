//! The canonical schema of a tool and its verdict on arguments.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use jsonschema::{
    Retrieve, ValidationError, ValidationOptions, Validator, ValidatorMap,
    error::ValidationErrorKind,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{
    Dialect, Impossible, Limits, Lowered, Node, ParseError, Tape, Violation, dialect,
    tape::Borrowed,
    violation::{self, broken_schema},
};

/// A JSON Schema, cheap to clone, compiled when it is first needed.
///
/// The schema is kept exactly as given, key order included. One that names no draft is read as 2020-12.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    value: Value,
    compiled: OnceLock<Result<Validator<Borrowed>, SchemaError>>,
    /// One validator per subschema, for coercion only.
    parts: OnceLock<Option<ValidatorMap<Borrowed>>>,
    /// One slot per dialect, made when the first is asked for.
    lowered: OnceLock<Box<[Slot; dialect::COUNT]>>,
}

/// Boxed, because most of the slots stay empty.
type Slot = OnceLock<Box<Result<Lowered, Impossible>>>;

/// A larger schema is not compiled part by part: each part compiles all that is below it.
const MOST_IN_PARTS: usize = 1 << 18;

impl Schema {
    /// Parses and checks schema text.
    ///
    /// # Errors
    ///
    /// See [`Schema::check`]; also text that is no acceptable JSON.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let value = Tape::parse(text, &Limits::default())
            .map_err(SchemaError::text)?
            .to_value();
        Self::check(value)
    }

    /// Checks a schema of unknown origin and compiles it.
    ///
    /// # Errors
    ///
    /// Refuses what is too large or too deep, keywords of a wrong shape, references that lead nowhere or elsewhere (nothing
    /// is ever fetched) and patterns that do not compile.
    pub fn check(value: Value) -> Result<Self, SchemaError> {
        if !value.is_object() && !value.is_boolean() {
            return Err(SchemaError::new("", "a schema is an object or a boolean"));
        }
        bounded(&value)?;
        let compiled = compile(&value)?;
        Ok(Self(Arc::new(Inner {
            value,
            compiled: OnceLock::from(Ok(compiled)),
            parts: OnceLock::new(),
            lowered: OnceLock::new(),
        })))
    }

    /// Takes a schema that was generated from a Rust type; it is compiled on first use.
    ///
    /// Should it not compile then, every value is refused with one violation that says so.
    pub fn trusted(value: Value) -> Self {
        Self(Arc::new(Inner {
            value,
            compiled: OnceLock::new(),
            parts: OnceLock::new(),
            lowered: OnceLock::new(),
        }))
    }

    /// The schema as given.
    pub fn as_value(&self) -> &Value {
        &self.0.value
    }

    /// Whether the schema admits this value.
    pub fn is_valid(&self, node: Node<'_>) -> bool {
        self.compiled()
            .as_ref()
            .is_ok_and(|validator| validator.is_valid(node))
    }

    /// Everything that is wrong with this value, one violation per mistake; empty if it is valid.
    ///
    /// Past twenty mistakes the last entry only counts the rest.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        match self.compiled() {
            Ok(validator) => {
                violation::explain(&self.0.value, validator.iter_errors(Tape::of(value).root()))
            }
            Err(error) => vec![broken_schema(error)],
        }
    }

    /// Whether the subschema at `place` (`#/properties/a`) admits the value; `None` if there is no such subschema.
    pub(crate) fn admits_at(&self, place: &str, value: &Value) -> Option<bool> {
        let parts = self.0.parts.get_or_init(|| {
            let small = self.0.value.to_string().len() <= MOST_IN_PARTS;
            small
                .then(|| options().build_map(&self.0.value).ok())
                .flatten()
        });
        Some(parts.as_ref()?.get(place)?.is_valid(Tape::of(value).root()))
    }

    /// Where the form for a dialect is kept.
    #[expect(
        clippy::indexing_slicing,
        reason = "there are as many slots as dialects"
    )]
    pub(crate) fn lowered(&self, dialect: Dialect) -> &Slot {
        &self.0.lowered.get_or_init(Box::default)[dialect.index()]
    }

    fn compiled(&self) -> &Result<Validator<Borrowed>, SchemaError> {
        self.0.compiled.get_or_init(|| compile(&self.0.value))
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.value == other.0.value
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.0.value)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.value.serialize(serializer)
    }
}

/// Why a schema was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    pointer: String,
    message: String,
}

impl SchemaError {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    fn text(error: ParseError) -> Self {
        Self::new("", error.to_string())
    }

    /// The JSON pointer of the guilty part of the schema, empty for the whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong there.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for SchemaError {}

fn options() -> ValidationOptions<'static, Arc<dyn Retrieve>, Borrowed> {
    jsonschema::options_for::<Borrowed>()
        .offline()
        .should_validate_formats(true)
}

fn compile(value: &Value) -> Result<Validator<Borrowed>, SchemaError> {
    options()
        .build(value)
        .map_err(|error| refused(value, error))
}

fn refused(schema: &Value, error: ValidationError<'static>) -> SchemaError {
    if let ValidationErrorKind::Referencing(cause) = error.kind() {
        return match unresolved(schema, "", &cause.to_string()) {
            Some((pointer, target)) => SchemaError::new(
                pointer,
                format!("cannot resolve `{target}`: only parts of this schema can be referred to"),
            ),
            None => SchemaError::new(
                "",
                format!("cannot be resolved: {}", lower_first(&cause.to_string())),
            ),
        };
    }
    let pointer = error.instance_path().to_string();
    let shown = violation::explain(&Value::Null, std::iter::once(error));
    let message = shown
        .first()
        .map_or_else(|| "not a schema".to_owned(), |first| first.message.clone());
    SchemaError::new(pointer, message)
}

/// Finds the reference that a message complains about.
fn unresolved<'s>(schema: &'s Value, here: &str, complaint: &str) -> Option<(String, &'s str)> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Array(elements) => {
            return elements
                .iter()
                .enumerate()
                .find_map(|(at, element)| unresolved(element, &format!("{here}/{at}"), complaint));
        }
        _ => return None,
    };
    members.iter().find_map(|(key, value)| {
        let here = format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::String(target) if matches!(key.as_str(), "$ref" | "$dynamicRef" | "$schema") => {
                let name = target.trim_start_matches('#');
                complaint
                    .contains(&format!("'{name}'"))
                    .then_some((here, target.as_str()))
            }
            _ => unresolved(value, &here, complaint),
        }
    })
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .chain(chars)
        .collect()
}

fn bounded(value: &Value) -> Result<(), SchemaError> {
    let limits = Limits::default();
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..=limits.depth {
        level = level.into_iter().flat_map(children).collect();
        if level.is_empty() {
            break;
        }
    }
    if !level.is_empty() {
        return Err(SchemaError::text(ParseError::TooDeep {
            limit: limits.depth,
        }));
    }
    let bytes = value.to_string().len();
    if bytes > limits.bytes {
        return Err(SchemaError::text(ParseError::TooLong {
            bytes,
            limit: limits.bytes,
        }));
    }
    Ok(())
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(elements) => Box::new(elements.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests;
