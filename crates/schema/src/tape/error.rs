//! Errors of parsing JSON text and of deserialising from a tape.

use std::fmt;

use serde::de;

use crate::escape_pointer_token;

/// Why text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The text is longer than the limit; it was not parsed.
    TooLong {
        /// The length of the text in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// Arrays and objects nest deeper than the limit.
    TooDeep {
        /// The maximum depth.
        limit: usize,
    },
    /// An object contains a key twice, so parsers could disagree about its value.
    DuplicateKey {
        /// The duplicate key.
        key: String,
    },
    /// An object contains a key that serde_json reserves and would not read as data.
    ReservedKey {
        /// The key.
        key: String,
    },
    /// The text is not JSON.
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

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, limit } => {
                write!(f, "{bytes} bytes of JSON where at most {limit} are read")
            }
            Self::TooDeep { limit } => write!(f, "JSON nested deeper than {limit} levels"),
            Self::DuplicateKey { key } => write!(f, "key `{key}` is named twice in one object"),
            Self::ReservedKey { key } => write!(f, "key `{key}` is reserved"),
            Self::Syntax { message, line, column, truncated } => {
                let cut = if *truncated { ", the text ends too early" } else { "" };
                write!(f, "not JSON: {message} at line {line} column {column}{cut}")
            }
        }
    }
}

impl std::error::Error for ParseError {}

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
        if !self.0.pointer.is_empty() {
            write!(f, "{}: ", self.0.pointer)?;
        }
        f.write_str(&self.0.message)
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
