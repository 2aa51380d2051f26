//! A type in, an answer of that type out.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolwright_core::JsonSchema;
use toolwright_core::schema::Schema;
use toolwright_core::schemars::generate::SchemaSettings;

use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::journal::entry::TurnEnd;
use crate::model::{ResponseFormat, ToolChoice};

/// How often a model may mend its answer.
const MAX_ATTEMPTS: usize = 3;

/// What an answer that is no object travels as: strict modes take nothing else.
const WRAPPER_KEY: &str = "answer";

impl TurnRequest {
    /// Asks for an answer of a type: described to the model, validated, and mended by it if it has to be.
    ///
    /// # Errors
    ///
    /// As [`call`](Ask::call); when the answer is still not of the type after three tries; or when the turn waits for a
    /// decision.
    pub async fn extract<T: DeserializeOwned + JsonSchema>(mut self) -> Result<T, ChatError> {
        let (form, wrapped) = response_format::<T>()?;
        self.response_format = Some(form.clone());
        let mut ask = self;
        let mut last = None;
        for _ in 0..MAX_ATTEMPTS {
            let model = ask.options.model.clone();
            let response = ask.call().await?;
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
            let read = model.parse_structured_output(&form, &text);
            let read =
                read.and_then(|value| validate_and_deserialize::<T>(&form.schema, value, wrapped));
            let message = match read {
                Ok(answer) => return Ok(answer),
                Err(message) => message,
            };
            let again =
                format!("That is not valid: {message}\nAnswer again, with nothing but the JSON.");
            ask = response.into_request().user(again);
            if ask.options.tool_choice != ToolChoice::None {
                // The wish for a tool was fulfilled before.
                ask.options.tool_choice = ToolChoice::Auto;
            }
            last = Some(ChatError::InvalidStructuredOutput { message, text });
        }
        Err(last.unwrap_or(ChatError::NoInput))
    }
}

/// The form of a type, and whether its answer travels in an object of its own.
fn response_format<T: JsonSchema>() -> Result<(ResponseFormat, bool), ChatError> {
    let schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    let mut schema = Value::from(schema);
    let wrapped = schema.get("type").and_then(Value::as_str) != Some("object");
    if wrapped {
        // References go from the root, so the definitions stay there.
        let definitions = schema
            .as_object_mut()
            .and_then(|root| root.shift_remove("$defs"));
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
        let told: Vec<String> = violations.iter().take(5).map(ToString::to_string).collect();
        return Err(told.join("\n"));
    }
    if wrapped {
        value = value
            .get_mut(WRAPPER_KEY)
            .map(Value::take)
            .unwrap_or_default();
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}
