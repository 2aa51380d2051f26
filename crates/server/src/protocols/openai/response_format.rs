//! `response_format`: the JSON that a client wants as the answer.

use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_chat::ResponseFormat;
use toolwright_core::schema::Schema;

use super::error::OpenAiError;
use crate::conversation::unstored::AnswerFormat;

/// The parameter.
const PARAM: &str = "response_format";

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RequestFormat {
    Text,
    JsonObject,
    JsonSchema { json_schema: NamedSchema },
}

#[derive(Deserialize)]
struct NamedSchema {
    name: String,
    description: Option<String>,
    schema: Value,
}

/// Parses the parameter; `None` if the answer is text.
pub(super) fn parse_response_format(sent: &Value) -> Result<Option<AnswerFormat>, OpenAiError> {
    if sent.is_null() {
        return Ok(None);
    }
    let format = RequestFormat::deserialize(sent)
        .map_err(|error| OpenAiError::invalid_param(PARAM, error.to_string()))?;
    let (name, schema, has_schema) = match format {
        RequestFormat::Text => return Ok(None),
        RequestFormat::JsonObject => ("answer".to_owned(), json!({ "type": "object" }), false),
        RequestFormat::JsonSchema { json_schema } => {
            let NamedSchema { name, description, mut schema } = json_schema;
            if let (Some(description), Some(fields)) = (description, schema.as_object_mut()) {
                fields.entry("description").or_insert(description.into());
            }
            (name, schema, true)
        }
    };
    let invalid =
        |why: String| OpenAiError::invalid_param(format!("{PARAM}.json_schema.schema"), why);
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(invalid(
            r#"the answer is an object: begin with `"type": "object"`"#.to_owned(),
        ));
    }
    let schema = Schema::check(schema).map_err(|error| invalid(error.to_string()))?;
    Ok(Some(AnswerFormat { format: ResponseFormat::new(name, schema), has_schema }))
}

/// Checks the text of an answer; the error says what is wrong with it.
pub(super) fn check_answer(schema: &Schema, text: &str) -> Result<(), String> {
    let why = match serde_json::from_str(text) {
        Ok(value) => {
            let violations = schema.violations(&value);
            if violations.is_empty() {
                return Ok(());
            }
            violations.iter().take(5).map(ToString::to_string).collect::<Vec<_>>().join("; ")
        }
        Err(error) => error.to_string(),
    };
    let begin: String = text.chars().take(200).collect();
    Err(format!("the answer is not what `{PARAM}` asks for: {why}; it begins with: {begin}"))
}
