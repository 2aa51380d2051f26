//! Structured output: an answer that is deserialised into a type.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolwright_core::JsonSchema;
use toolwright_core::schema::Schema;
use toolwright_core::schemars::generate::SchemaSettings;

use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::journal::entry::TurnEnd;
use crate::model::{ResponseFormat, ToolChoice};

/// How many answers of the model are tried.
const MAX_ATTEMPTS: usize = 3;

/// The key of the object that wraps an answer of another JSON type: strict modes allow objects only.
const WRAPPER_KEY: &str = "answer";

impl TurnRequest {
    /// Sends the request with the schema of a type, and deserialises the answer. The model may correct an invalid answer twice.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call); when the third answer is still not of the type; or when the turn waits for an approval.
    pub async fn extract<T: DeserializeOwned + JsonSchema>(mut self) -> Result<T, ChatError> {
        let (format, wrapped) = response_format::<T>()?;
        self.response_format = Some(format.clone());
        let mut request = self;
        let mut last = None;
        for _ in 0..MAX_ATTEMPTS {
            let model = request.options.model.clone();
            let response = request.call().await?;
            if response.end().is_none() {
                let waiting =
                    "a call needs a decision or a result; use `call` or `stream`".to_owned();
                return Err(ChatError::TurnPaused { waiting });
            }
            if let Some(TurnEnd::Cancelled) = response.end() {
                let reason = "it was cancelled".to_owned();
                let response = Box::new(response);
                return Err(ChatError::Ended { reason, response });
            }
            let text = response.text();
            let value = model.parse_structured_output(&format, &text);
            let parsed = value
                .and_then(|value| validate_and_deserialize::<T>(&format.schema, value, wrapped));
            let message = match parsed {
                Ok(answer) => return Ok(answer),
                Err(message) => message,
            };
            let again =
                format!("That is not valid: {message}\nAnswer again, with nothing but the JSON.");
            request = response.into_request().user(again);
            if request.options.tool_choice != ToolChoice::None {
                // A required call was made in the first attempt.
                request.options.tool_choice = ToolChoice::Auto;
            }
            last = Some(ChatError::InvalidStructuredOutput { message, text });
        }
        Err(last.unwrap_or(ChatError::NoInput))
    }
}

/// Returns the schema of a type, and true if the answer is wrapped in an object.
fn response_format<T: JsonSchema>() -> Result<(ResponseFormat, bool), ChatError> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut schema = Value::from(schema);
    let wrapped = schema.get("type").and_then(Value::as_str) != Some("object");
    if wrapped {
        // References start at the root, so the definitions stay there.
        let definitions = schema.as_object_mut().and_then(|root| root.shift_remove("$defs"));
        schema = json!({
            "type": "object",
            "properties": {WRAPPER_KEY: schema},
            "required": [WRAPPER_KEY],
            "additionalProperties": false,
        });
        if let (Some(definitions), Some(root)) = (definitions, schema.as_object_mut()) {
            root.insert("$defs".to_owned(), definitions);
        }
    }
    let schema = Schema::check(schema).map_err(|error| ChatError::InvalidStructuredOutput {
        message: format!("the type has no valid schema: {error}"),
        text: String::new(),
    })?;
    Ok((ResponseFormat::new(T::schema_name(), schema), wrapped))
}

fn validate_and_deserialize<T: DeserializeOwned>(
    schema: &Schema,
    mut value: Value,
    wrapped: bool,
) -> Result<T, String> {
    let violations = schema.violations(&value);
    if !violations.is_empty() {
        let lines: Vec<String> = violations.iter().take(5).map(ToString::to_string).collect();
        return Err(lines.join("\n"));
    }
    if wrapped {
        value = value.get_mut(WRAPPER_KEY).map(Value::take).unwrap_or_default();
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}
