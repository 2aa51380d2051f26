//! Errors of parsing JSON text and of deserialising from a tape.

use std::fmt;

use serde::de;

use crate::json_pointer::{escape_pointer_token, write_message_at};

/// Why text was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The text is longer than the limit; it was not parsed.
    #[error("{bytes} bytes of JSON where at most {limit} are read")]
    TooLong {
        /// The length of the text in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// Arrays and objects nest deeper than the limit.
    #[error("JSON nested deeper than {limit} levels")]
    TooDeep {
        /// The maximum depth.
        limit: usize,
    },
    /// An object contains a key twice, so parsers could disagree about its value.
    #[error("key `{key}` is named twice in one object")]
    DuplicateKey {
        /// The duplicate key.
        key: String,
    },
    /// An object contains a key that serde_json reserves and would not read as data.
    #[error("key `{key}` is reserved")]
    ReservedKey {
        /// The key.
        key: String,
    },
    /// The text is not JSON.
    #[error(
        "not JSON: {message} at line {line} column {column}{}",
        if *truncated { ", the text ends too early" } else { "" }
    )]
    Syntax {
        /// What is wrong, without the position.
        message: String,
        /// The line, counted from 1.
        line: usize,
        /// The column in bytes, counted from 1.
        column: usize,
        /// Whether the text ended too early.
        truncated: bool,
    },
}

/// Why deserialising from a tape failed; never contains the rejected value.
#[derive(Debug)]
pub struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    message: String,
    pointer: String,
}

impl ReadError {
    /// The JSON pointer of the rejected value, empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Pointers are built from the inside out while the error returns, so a successful read does not pay for them.
    pub(super) fn prefix_pointer(mut self, step: impl fmt::Display) -> Self {
        let step = step.to_string();
        let step = escape_pointer_token(&step);
        self.0.pointer.insert_str(0, &step);
        self.0.pointer.insert(0, '/');
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message_at(f, &self.0.pointer, &self.0.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Box::new(Inner { message: message.to_string(), pointer: String::new() }))
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("expected {expected}, got {}", kind(&unexpected)))
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("expected {expected}, got another {}", kind(&unexpected)))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!("expected one of {}", expected.join(", ")))
    }
}

fn kind(unexpected: &de::Unexpected<'_>) -> &'static str {
    match unexpected {
        de::Unexpected::Bool(_) => "boolean",
        de::Unexpected::Unsigned(_) | de::Unexpected::Signed(_) => "integer",
        de::Unexpected::Float(_) => "number",
        de::Unexpected::Char(_) | de::Unexpected::Str(_) => "string",
        de::Unexpected::Unit | de::Unexpected::Option => "null",
        de::Unexpected::Seq => "array",
        de::Unexpected::Map => "object",
        _ => "value",
    }
}
