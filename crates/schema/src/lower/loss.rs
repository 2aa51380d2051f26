//! What lowering gave up, and where.

use std::{error, fmt};

use serde::Serialize;

/// One thing that a dialect cannot say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// Where, as a JSON pointer into the schema with its references written out.
    pub path: String,
    /// The keyword that was given up.
    pub keyword: String,
    /// What that means for the arguments.
    pub severity: Severity,
    /// What the description says instead.
    #[serde(rename = "spilled")]
    pub described_as: Option<String>,
}

/// How a loss changes the arguments that a model may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Not in what is accepted in the end: something that only informs was left out or moved, or an
    /// object could not be closed. Every call is validated, so properties it does not declare are refused
    /// all the same.
    Note,
    /// It may send more than is valid; such a call is refused when it comes back.
    Wider,
    /// There are valid arguments that it cannot send.
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
        let path = if self.path.is_empty() {
            "/"
        } else {
            &self.path
        };
        write!(f, "{path}: {} ({})", self.keyword, self.severity)?;
        match &self.described_as {
            Some(text) => write!(f, ", described as \"{text}\""),
            None => Ok(()),
        }
    }
}

/// Why a schema cannot be lowered to a dialect at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LowerError {
    /// Where, as a JSON pointer; empty for the whole.
    pub path: String,
    /// What is in the way.
    pub reason: String,
}

impl LowerError {
    pub(crate) fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.reason)
    }
}

impl error::Error for LowerError {}
