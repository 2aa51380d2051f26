//! A type in, an answer of that type out.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolwright_core::JsonSchema;
use toolwright_core::schema::Schema;
use toolwright_core::schemars::generate::SchemaSettings;

use crate::ask::Ask;
use crate::entry::End;
use crate::error::ChatError;
use crate::model::{AnswerForm, ToolChoice};

/// How often a model may mend its answer.
const TRIES: usize = 3;

/// What an answer that is no object travels as: strict modes take nothing else.
const WRAPPED: &str = "answer";

impl Ask {
    /// Asks for an answer of a type: described to the model, validated, and mended by it if it has to be.
    ///
    /// # Errors
    ///
    /// As [`call`](Ask::call); when the answer is still not of the type after three tries; or when the turn waits for a
    /// decision.
    pub async fn extract<T: DeserializeOwned + JsonSchema>(mut self) -> Result<T, ChatError> {
        let (form, wrapped) = form::<T>()?;
        self.answer = Some(form.clone());
        let mut ask = self;
        let mut last = None;
        for _ in 0..TRIES {
            let model = ask.terms.model.clone();
            let response = ask.call().await?;
            if response.end().is_none() {
                let waiting =
                    "a call needs a decision or a result; use `call` or `stream`".to_owned();
                return Err(ChatError::Waits { waiting });
            }
            if let Some(End::Cancelled) = response.end() {
                let reason = "it was cancelled".to_owned();
                let response = Box::new(response);
                return Err(ChatError::Ended { reason, response });
            }
            let text = response.text();
            let read = model.answer(&form, &text);
            let read = read.and_then(|value| take::<T>(&form.schema, value, wrapped));
            let message = match read {
                Ok(answer) => return Ok(answer),
                Err(message) => message,
            };
            let again =
                format!("That is not valid: {message}\nAnswer again, with nothing but the JSON.");
            ask = response.go_on().user(again);
            if ask.terms.choice != ToolChoice::None {
                // The wish for a tool was fulfilled before.
                ask.terms.choice = ToolChoice::Auto;
            }
            last = Some(ChatError::Answer { message, text });
        }
        Err(last.unwrap_or(ChatError::Silent))
    }
}

/// The form of a type, and whether its answer travels in an object of its own.
fn form<T: JsonSchema>() -> Result<(AnswerForm, bool), ChatError> {
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
            "properties": {WRAPPED: schema},
            "required": [WRAPPED],
            "additionalProperties": false,
        });
        if let (Some(definitions), Some(root)) = (definitions, schema.as_object_mut()) {
            root.insert("$defs".to_owned(), definitions);
        }
    }
    let schema = Schema::check(schema).map_err(|error| ChatError::Answer {
        message: format!("the type has no valid schema: {error}"),
        text: String::new(),
    })?;
    Ok((AnswerForm::new(T::schema_name(), schema), wrapped))
}

fn take<T: DeserializeOwned>(
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
        value = value.get_mut(WRAPPED).map(Value::take).unwrap_or_default();
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}
