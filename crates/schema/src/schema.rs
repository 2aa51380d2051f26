//! The canonical schema of a tool, which validates its arguments.

pub(crate) mod closed_objects;
mod quick_check;
pub(crate) mod type_coverage;
pub(crate) mod violation;

use std::{
    fmt, io,
    sync::{Arc, OnceLock},
};

use jsonschema::{
    Retrieve, ValidationError, ValidationOptions, Validator, ValidatorMap,
    error::ValidationErrorKind,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{
    Dialect, InputLimits, LowerError, Lowered, Node, ParseError, Tape, Violation, dialect,
    escape_pointer_token, json_pointer::write_message_at, tape::TapeJson,
};
use violation::invalid_schema_violation;

/// A JSON Schema, cheap to clone, compiled on first use.
///
/// The schema is kept exactly as given, including key order. Without `$schema` it is read as 2020-12.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    value: Value,
    /// Boxed, because most schemas are never used.
    compiled: OnceLock<Box<Result<Validator<TapeJson>, SchemaError>>>,
    /// One validator per subschema, used only by coercion.
    subschema_validators: OnceLock<Option<Box<ValidatorMap<TapeJson>>>>,
    /// One slot per dialect, allocated on the first call of [`Schema::lower`].
    lowered: OnceLock<Box<[LoweredSlot; dialect::DIALECT_COUNT]>>,
}

/// Boxed, because most of the slots stay empty.
type LoweredSlot = OnceLock<Box<Result<Lowered, LowerError>>>;

/// Subschemas of a larger schema are not compiled one by one, because each of them compiles all its descendants.
const MAX_SUBSCHEMA_VALIDATORS_SIZE: usize = 1 << 18;

impl Schema {
    /// Parses and checks schema text.
    ///
    /// # Errors
    ///
    /// See [`Schema::check`]; also text that is not JSON or exceeds a limit.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let value = Tape::parse(text, &InputLimits::default())
            .map_err(|error| SchemaError::new("", error.to_string()))?
            .to_value();
        Self::check(value)
    }

    /// Checks a schema from an untrusted source; it is compiled on first use.
    ///
    /// # Errors
    ///
    /// Rejects schemas that are too large or too deep, keywords of the wrong type, references that are remote (nothing is
    /// ever fetched) or cannot be resolved, and patterns that do not compile.
    pub fn check(value: Value) -> Result<Self, SchemaError> {
        if !value.is_object() && !value.is_boolean() {
            return Err(SchemaError::new("", "a schema is an object or a boolean"));
        }
        check_size(&value)?;
        if !quick_check::certainly_compiles(&value) {
            // Dropped: of thousands of tools most are never called.
            compile(&value)?;
        }
        Ok(Self::trusted(value))
    }

    /// Creates a schema that was generated from a Rust type; it is compiled on first use.
    ///
    /// If it does not compile, every value is rejected with one violation that contains the error.
    pub fn trusted(value: Value) -> Self {
        Self(Arc::new(Inner {
            value,
            compiled: OnceLock::new(),
            subschema_validators: OnceLock::new(),
            lowered: OnceLock::new(),
        }))
    }

    /// The schema as given.
    pub fn as_value(&self) -> &Value {
        &self.0.value
    }

    /// Returns the schema with these values after its own `examples`.
    #[must_use]
    pub fn with_examples(&self, examples: Vec<Value>) -> Self {
        let mut value = self.0.value.clone();
        if let Value::Object(keywords) = &mut value
            && !examples.is_empty()
        {
            match keywords.get_mut("examples") {
                Some(Value::Array(own)) => own.extend(examples),
                _ => {
                    keywords.insert("examples".to_owned(), examples.into());
                }
            }
        }
        Self::trusted(value)
    }

    /// Returns true if the value is valid.
    pub fn is_valid(&self, node: Node<'_>) -> bool {
        self.compiled().as_ref().is_ok_and(|validator| validator.is_valid(node))
    }

    /// The violations of a value; empty if it is valid.
    ///
    /// After twenty violations the last entry only counts the rest.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        match self.compiled() {
            Ok(validator) => violation::violations_from_errors(
                &self.0.value,
                validator.iter_errors(Tape::from_value(value).root()),
            ),
            Err(error) => vec![invalid_schema_violation(error)],
        }
    }

    /// Validates a value against the subschema at `path` (`#/properties/a`); `None` if there is no such subschema.
    pub(crate) fn admits_at(&self, path: &str, value: &Value) -> Option<bool> {
        let parts = self.0.subschema_validators.get_or_init(|| {
            let small = self.0.value.to_string().len() <= MAX_SUBSCHEMA_VALIDATORS_SIZE;
            small
                .then(|| validation_options().build_map(&self.0.value).ok())
                .flatten()
                .map(Box::new)
        });
        Some(parts.as_ref()?.get(path)?.is_valid(Tape::from_value(value).root()))
    }

    /// The cached result of lowering to a dialect.
    #[expect(clippy::indexing_slicing, reason = "there are as many slots as dialects")]
    pub(crate) fn lowered_slot(&self, dialect: Dialect) -> &LoweredSlot {
        &self.0.lowered.get_or_init(Box::default)[dialect.index()]
    }

    fn compiled(&self) -> &Result<Validator<TapeJson>, SchemaError> {
        self.0.compiled.get_or_init(|| Box::new(compile(&self.0.value)))
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

/// Why a schema was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    pointer: String,
    message: String,
}

impl SchemaError {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// The JSON pointer of the invalid part of the schema, empty for the whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message_at(f, &self.pointer, &self.message)
    }
}

impl std::error::Error for SchemaError {}

fn validation_options() -> ValidationOptions<'static, Arc<dyn Retrieve>, TapeJson> {
    jsonschema::options_for::<TapeJson>().offline().should_validate_formats(true)
}

fn compile(value: &Value) -> Result<Validator<TapeJson>, SchemaError> {
    validation_options().build(value).map_err(|error| compile_error(value, error))
}

fn compile_error(schema: &Value, error: ValidationError<'static>) -> SchemaError {
    if let ValidationErrorKind::Referencing(cause) = error.kind() {
        let cause = cause.to_string();
        let (pointer, message) = match unresolved_reference(schema, "", &cause) {
            Some((pointer, target)) => (
                pointer,
                format!("cannot resolve `{target}`: only parts of this schema can be referred to"),
            ),
            None => (String::new(), format!("cannot be resolved: {}", lowercase_first(&cause))),
        };
        return SchemaError::new(pointer, message);
    }
    let pointer = error.instance_path().to_string();
    let shown = violation::violations_from_errors(&Value::Null, std::iter::once(error));
    let message =
        shown.first().map_or_else(|| "not a schema".to_owned(), |first| first.message.clone());
    SchemaError::new(pointer, message)
}

/// Finds the reference that an error message of the validator mentions.
fn unresolved_reference<'s>(
    schema: &'s Value,
    pointer: &str,
    message: &str,
) -> Option<(String, &'s str)> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Array(elements) => {
            return elements.iter().enumerate().find_map(|(at, element)| {
                unresolved_reference(element, &format!("{pointer}/{at}"), message)
            });
        }
        _ => return None,
    };
    members.iter().find_map(|(key, value)| {
        let pointer = format!("{pointer}/{}", escape_pointer_token(key));
        match value {
            Value::String(target) if matches!(key.as_str(), "$ref" | "$dynamicRef" | "$schema") => {
                let name = target.trim_start_matches('#');
                message.contains(&format!("'{name}'")).then_some((pointer, target.as_str()))
            }
            _ => unresolved_reference(value, &pointer, message),
        }
    })
}

fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}

fn check_size(value: &Value) -> Result<(), SchemaError> {
    let limits = InputLimits::default();
    let mut text = TextLength(0);
    let error = if is_deeper_than(value, limits.depth) {
        ParseError::TooDeep { limit: limits.depth }
    } else if serde_json::to_writer(&mut text, value).is_ok() && text.0 > limits.bytes {
        ParseError::TooLong { bytes: text.0, limit: limits.bytes }
    } else {
        return Ok(());
    };
    Err(SchemaError::new("", error.to_string()))
}

/// Returns true if a value has more levels of values inside it.
fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let is_too_deep = |child: &Value| match levels.checked_sub(1) {
        Some(levels) => is_deeper_than(child, levels),
        None => true,
    };
    match value {
        Value::Array(elements) => elements.iter().any(is_too_deep),
        Value::Object(members) => members.values().any(is_too_deep),
        _ => false,
    }
}

/// Counts the bytes that are written to it.
struct TextLength(usize);

impl io::Write for TextLength {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
