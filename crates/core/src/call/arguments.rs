//! [`Arguments`]: the arguments of a call, as text, as a JSON value, or as both.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use toolwright_schema::{InputLimits, ParseError, Tape};

use super::text_traits;

/// The arguments of a call: the text exactly as it was sent, perhaps not even JSON, or a JSON value.
///
/// A value becomes text when the text is first needed, and [`as_value`](Self::as_value) parses text once: the other form is
/// kept, also for clones made afterwards.
///
/// # Examples
///
/// ```
/// use toolwright::{Arguments, json};
///
/// let text = Arguments::from(r#"{"city": "Paris"}"#);
/// assert_eq!(text.as_value(), Some(&json!({"city": "Paris"})));
///
/// let value = Arguments::from(json!({"city": "Paris"}));
/// assert_eq!(value.as_str(), r#"{"city":"Paris"}"#);
/// ```
#[derive(Clone)]
pub struct Arguments(Form);

/// The form in which the arguments were given, and the other one when it is needed.
#[derive(Clone)]
enum Form {
    Text(Arc<str>, OnceLock<Arc<Value>>),
    Value(Arc<Value>, OnceLock<Arc<str>>),
}

impl Arguments {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Form::Text(text, _) => text,
            Form::Value(value, text) => text.get_or_init(|| value.to_string().into()),
        }
    }

    /// Returns the value; `None` if the text is not JSON, repeats a key, or exceeds the default [`InputLimits`].
    pub fn as_value(&self) -> Option<&Value> {
        if let Form::Text(text, value) = &self.0
            && value.get().is_none()
        {
            self.keep_value(&Tape::parse(text, &InputLimits::default()).ok()?);
        }
        self.parsed()
    }

    /// Keeps the value that the text was parsed into, so that it is not parsed again.
    pub(crate) fn keep_value(&self, parsed: &Tape<'_>) {
        if let Form::Text(_, value) = &self.0 {
            value.get_or_init(|| Arc::new(parsed.to_value()));
        }
    }

    /// Returns the text if it must be parsed.
    pub(crate) fn unparsed_text(&self) -> Option<&str> {
        match &self.0 {
            Form::Text(text, value) if value.get().is_none() => Some(text),
            _ => None,
        }
    }

    /// Returns the value if that needs no parsing.
    fn parsed(&self) -> Option<&Value> {
        match &self.0 {
            Form::Text(_, value) => value.get().map(|value| &**value),
            Form::Value(value, _) => Some(value),
        }
    }

    /// Returns the value if that needs no parsing, and parsing it with these limits would surely succeed.
    fn parsed_within(&self, limits: &InputLimits) -> Option<&Value> {
        // The text may be longer than that of its value: it may have been formatted.
        let is_too_long = matches!(&self.0, Form::Text(text, _) if text.len() > limits.bytes);
        self.parsed().filter(|value| !is_too_long && limits.admit(value))
    }

    /// Reads the arguments for validation, from the value where that needs no parsing.
    pub(crate) fn to_tape(&self, limits: &InputLimits) -> Result<Tape<'_>, ParseError> {
        match self.parsed_within(limits) {
            Some(value) => Ok(Tape::from_value(value)),
            None => Tape::parse(self.as_str(), limits),
        }
    }

    /// Copies the value where that needs no parsing, else parses the text.
    pub(crate) fn to_value(&self, limits: &InputLimits) -> Result<Value, ParseError> {
        match self.parsed_within(limits) {
            Some(value) => Ok(value.clone()),
            None => Tape::parse(self.as_str(), limits).map(|tape| tape.to_value()),
        }
    }
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self(Form::Text(text.into(), OnceLock::new()))
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self(Form::Text(text.into(), OnceLock::new()))
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self(Form::Value(Arc::new(value), OnceLock::new()))
    }
}

impl From<&Value> for Arguments {
    fn from(value: &Value) -> Self {
        Self::from(value.clone())
    }
}

text_traits!(Arguments);
