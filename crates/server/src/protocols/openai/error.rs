//! Errors in the format of OpenAI's API.

use axum::http::StatusCode;
use serde_json::Value;
use toolwright_conversation::ConversationError;

use crate::http::error_response::{ErrorResponse, openai_code, openai_status};

/// An error response in OpenAI's format.
#[derive(Debug)]
pub(crate) struct OpenAiError {
    pub(super) status: StatusCode,
    pub(super) error_type: &'static str,
    pub(super) code: Option<String>,
    /// The parameter that is wrong.
    pub(super) param: Option<String>,
    pub(super) message: String,
    /// The `Retry-After` header, in seconds.
    pub(super) retry_after: Option<u64>,
}

impl OpenAiError {
    /// A parameter of the request is wrong.
    pub(super) fn invalid_param(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            error_type: "invalid_request_error",
            code: None,
            param: Some(param.into()),
            message: message.into(),
            retry_after: None,
        }
    }

    /// The model does not exist here.
    pub(super) fn model_not_found(name: &str, known: &[String]) -> Self {
        let known = known.join(", ");
        Self {
            status: StatusCode::NOT_FOUND,
            code: Some("model_not_found".to_owned()),
            ..Self::invalid_param(
                "model",
                format!("there is no model `{name}` here; there are: {known}"),
            )
        }
    }

    /// The error of a failed turn.
    pub(super) fn from_error_chunk(error: &Value) -> Self {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let code = text("code");
        let status = openai_status(code);
        Self {
            status,
            error_type: error_type_of(status),
            code: Some(openai_code(code).to_owned()),
            param: None,
            message: text("message").to_owned(),
            retry_after: None,
        }
    }
}

fn error_type_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
}

impl From<ErrorResponse> for OpenAiError {
    fn from(error: ErrorResponse) -> Self {
        Self {
            status: error.status,
            error_type: error_type_of(error.status),
            code: Some(openai_code(&error.kind).to_owned()),
            param: None,
            retry_after: error.retry_after(),
            message: error.message,
        }
    }
}

impl From<ConversationError> for OpenAiError {
    fn from(error: ConversationError) -> Self {
        ErrorResponse::from(error).into()
    }
}
