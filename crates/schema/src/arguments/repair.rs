//! Untidy text in, JSON out.
//!
//! Only what is whole can be repaired: a cut-off `{"path":"/a"` might have gone on to `"dry_run":true`.

mod rewrite;
mod unwrap;

use std::fmt;

use crate::{InputLimits, ParseError, Tape};

/// Text that is JSON now, and what had to be done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The JSON text.
    pub text: String,
    /// What was mended, each kind once; empty if nothing was wrong.
    pub notes: Vec<&'static str>,
}

/// Why a text cannot be repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairError {
    /// The text ends too early: what is missing might have changed its meaning.
    Truncated,
    /// The text could mean more than one thing.
    Ambiguous {
        /// The byte at which it stops being clear.
        at: usize,
        /// What is unclear.
        message: String,
    },
    /// The text passes a limit or names a key twice.
    Rejected(ParseError),
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the JSON is cut off"),
            Self::Ambiguous { at, message } => write!(f, "not JSON: {message} at byte {at}"),
            Self::Rejected(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RepairError {}

/// Repairs text that is whole but untidy; text that is JSON already keeps its meaning.
///
/// # Errors
///
/// Refuses text that is cut off, that is ambiguous, or that passes a limit.
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
        return Ok(Repaired {
            text: "{}".to_owned(),
            notes,
        });
    }
    let mended = match Tape::parse(inner, limits) {
        Ok(_) => inner.to_owned(),
        Err(ParseError::Syntax {
            truncated: true, ..
        }) => return Err(RepairError::Truncated),
        Err(ParseError::Syntax { .. }) => rewrite::rewrite(inner, limits, &mut notes)
            .map_err(|error| error.with_offset(offset))?,
        Err(error) => return Err(RepairError::Rejected(error)),
    };
    let text = unwrap::decode_json_string(mended, limits, &mut notes);
    match Tape::parse(&text, limits).map(drop) {
        Ok(()) => Ok(Repaired { text, notes }),
        Err(ParseError::Syntax {
            truncated: true, ..
        }) => Err(RepairError::Truncated),
        Err(ParseError::Syntax { message, .. }) => Err(RepairError::Ambiguous {
            at: offset,
            message,
        }),
        Err(error) => Err(RepairError::Rejected(error)),
    }
}

impl RepairError {
    fn with_offset(self, offset: usize) -> Self {
        match self {
            Self::Ambiguous { at, message } => Self::Ambiguous {
                at: at + offset,
                message,
            },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
