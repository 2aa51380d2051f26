//! Reports of constraints that lowering dropped.

use std::{error, fmt};

use serde::Serialize;

use crate::json_pointer::write_message_at;

/// One constraint that a dialect cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// The JSON pointer into the schema with its references inlined.
    pub path: String,
    /// The keyword that was dropped.
    pub keyword: String,
    /// The effect on the arguments.
    pub severity: Severity,
    /// The text that was added to the description instead.
    #[serde(rename = "spilled")]
    pub described_as: Option<String>,
}

/// How a loss changes the arguments that a model may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// No effect on what is accepted: an annotation was removed or moved, or an object could not be
    /// closed. Every call is validated against the canonical schema, so undeclared properties are still
    /// rejected.
    Note,
    /// The model may send invalid arguments; such a call is rejected by the validator.
    Wider,
    /// Some valid arguments cannot be sent.
    Narrower,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Wider => "wider",
            Self::Narrower => "narrower",
        })
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{path}: {} ({})", self.keyword, self.severity)?;
        match &self.described_as {
            Some(text) => write!(f, ", described as \"{text}\""),
            None => Ok(()),
        }
    }
}

/// Why a schema cannot be lowered to a dialect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LowerError {
    /// The JSON pointer of the problem; empty for the whole.
    pub path: String,
    /// What the dialect cannot express.
    pub reason: String,
}

impl LowerError {
    /// An error about the schema as a whole.
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { path: String::new(), reason: reason.into() }
    }
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message_at(f, &self.path, &self.reason)
    }
}

impl error::Error for LowerError {}
