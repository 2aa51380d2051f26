//! Parses arguments, and repairs text that is not quite JSON.

use serde_json::Value;
use toolwright_schema::{InputLimits, ParseError, RepairError, Tape, repair};

use super::ArgumentError;
use crate::call::Arguments;

/// Parses the arguments; adds a note for each repair.
pub(super) fn parse(
    arguments: &Arguments,
    limits: &InputLimits,
    notes: &mut Vec<String>,
) -> Result<Value, ArgumentError> {
    let message = match arguments.to_value(limits) {
        // Perhaps an object that was encoded twice, which `repair` decodes.
        Ok(Value::String(_)) => "they must be an object, not a string".to_owned(),
        Ok(value) => return Ok(value),
        Err(error @ ParseError::Syntax { .. }) => error.to_string(),
        Err(error) => return Err(ArgumentError::Malformed(error.to_string())),
    };
    let repaired = repair(arguments.as_str(), limits).map_err(|error| match error {
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
