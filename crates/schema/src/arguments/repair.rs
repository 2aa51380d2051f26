//! Repairs JSON text with the syntax mistakes that models make: trailing commas, single quotes, code fences.
//!
//! Only complete text can be repaired: a truncated `{"path":"/a"` might have continued with `"dry_run":true`.

mod rewrite;
mod unwrap;

use crate::{InputLimits, ParseError, Tape};

/// Repaired JSON text and the list of repairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The JSON text.
    pub text: String,
    /// The kinds of repair, each listed once; empty if the text was valid.
    pub notes: Vec<&'static str>,
}

/// Why text cannot be repaired.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The text ends too early: the missing rest might have changed its meaning.
    #[error("the JSON is cut off")]
    Truncated,
    /// The text has more than one interpretation.
    #[error("not JSON: {message} at byte {at}")]
    Ambiguous {
        /// The byte offset at which it becomes ambiguous.
        at: usize,
        /// What is ambiguous.
        message: String,
    },
    /// The text exceeds a limit or has a duplicate key.
    #[error("{0}")]
    Rejected(ParseError),
}

/// Repairs complete text with syntax mistakes; valid JSON keeps its meaning.
///
/// # Errors
///
/// Rejects text that is truncated, that is ambiguous, or that exceeds a limit.
pub fn repair(text: &str, limits: &InputLimits) -> Result<Repaired, RepairError> {
    if text.len() > limits.bytes {
        return Err(RepairError::Rejected(ParseError::TooLong {
            bytes: text.len(),
            limit: limits.bytes,
        }));
    }
    let mut notes = Vec::new();
    let (inner, offset) = unwrap::strip_wrapping(text, &mut notes)?;
    if inner.is_empty() {
        notes.push("blank read as {}");
        return Ok(Repaired { text: "{}".to_owned(), notes });
    }
    let repaired = match Tape::parse(inner, limits) {
        Ok(_) => inner.to_owned(),
        Err(ParseError::Syntax { truncated: true, .. }) => return Err(RepairError::Truncated),
        Err(ParseError::Syntax { .. }) => rewrite::rewrite(inner, limits, &mut notes)
            .map_err(|error| error.with_offset(offset))?,
        Err(error) => return Err(RepairError::Rejected(error)),
    };
    let text = unwrap::decode_json_string(repaired, limits, &mut notes);
    match Tape::parse(&text, limits).map(drop) {
        Ok(()) => Ok(Repaired { text, notes }),
        Err(ParseError::Syntax { truncated: true, .. }) => Err(RepairError::Truncated),
        Err(ParseError::Syntax { message, .. }) => {
            Err(RepairError::Ambiguous { at: offset, message })
        }
        Err(error) => Err(RepairError::Rejected(error)),
    }
}

impl RepairError {
    fn with_offset(self, offset: usize) -> Self {
        match self {
            Self::Ambiguous { at, message } => Self::Ambiguous { at: at + offset, message },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
