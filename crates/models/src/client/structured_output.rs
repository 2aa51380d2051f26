//! Parses structured output: the JSON that a model wrote in a requested format.

use serde_json::Value;
use toolwright_core::schema::{Dialect, InputLimits, Schema, Tape, repair};

use crate::limits::MAX_RESPONSE_BYTES;

/// Parses the text, repaired if necessary, and lifts it from the dialect that the schema was lowered to.
pub(super) fn parse_structured_output(
    schema: &Schema,
    dialect: Option<Dialect>,
    text: &str,
) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Err("the answer is empty; expected JSON".to_owned());
    }
    let limits = InputLimits { bytes: MAX_RESPONSE_BYTES, ..InputLimits::default() };
    let mut value = match Tape::parse(text, &limits) {
        Ok(tape) => tape.to_value(),
        Err(_) => {
            let repaired = repair(text, &limits).map_err(|error| error.to_string())?;
            let tape = Tape::parse(&repaired.text, &limits);
            tape.map_err(|error| error.to_string())?.to_value()
        }
    };
    if let Some(lowered) = dialect.and_then(|dialect| schema.lower(dialect).ok()) {
        lowered.lift_arguments(&mut value);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        Schema::check(json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": false
        }))
        .unwrap()
    }

    #[test]
    fn nulls_that_strict_mode_requires_are_removed() {
        let text = r#"{"city": "Rome", "days": null}"#;
        let value = parse_structured_output(&schema(), Some(Dialect::OPENAI_STRICT), text);
        assert_eq!(value.unwrap(), json!({"city": "Rome"}));
    }

    #[test]
    fn fences_and_malformed_json_are_repaired() {
        let text = "```json\n{'city': 'Rome',}\n```";
        let value = parse_structured_output(&schema(), None, text);
        assert_eq!(value.unwrap(), json!({"city": "Rome"}));
    }

    #[test]
    fn a_truncated_or_empty_text_is_an_error() {
        let error = parse_structured_output(&schema(), None, r#"{"city": "Ro"#).unwrap_err();
        assert_eq!(error, "the JSON is cut off");
        assert!(parse_structured_output(&schema(), None, " \n").is_err());
        assert!(parse_structured_output(&schema(), None, "Rome is nice.").is_err());
    }
}
