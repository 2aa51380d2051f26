//! Parses argument text, and repairs text that is not quite JSON.

use serde_json::Value;
use toolwright_schema::{InputLimits, ParseError, RepairError, Tape, repair};

use super::ArgumentError;

/// Parses the text; adds a note for each repair.
pub(super) fn parse(
    text: &str,
    limits: &InputLimits,
    notes: &mut Vec<String>,
) -> Result<Value, ArgumentError> {
    let message = match Tape::parse(text, limits) {
        Ok(tape) => match tape.to_value() {
            // Perhaps an object that was encoded twice, which `repair` decodes.
            Value::String(_) => "they must be an object, not a string".to_owned(),
            value => return Ok(value),
        },
        Err(error @ ParseError::Syntax { .. }) => error.to_string(),
        Err(error) => return Err(ArgumentError::Malformed(error.to_string())),
    };
    let repaired = repair(text, limits).map_err(|error| match error {
        RepairError::Truncated => {
            ArgumentError::Malformed(format!("cut off, send them whole: {message}"))
        }
        RepairError::Rejected(error) => ArgumentError::Malformed(error.to_string()),
        _ => ArgumentError::Malformed(message),
    })?;
    notes.extend(repaired.notes.iter().map(|note| format!("repaired: {note}")));
    match Tape::parse(&repaired.text, limits) {
        Ok(tape) => Ok(tape.to_value()),
        Err(error) => Err(ArgumentError::Malformed(error.to_string())),
    }
}
