//! What is wrong with a request, in the form that OpenAI's clients read.

use axum::http::StatusCode;
use serde_json::Value;

use crate::http::error_response::ErrorResponse;

/// Why a request is not answered.
#[derive(Debug)]
pub(crate) struct OpenAiError {
    pub(super) status: StatusCode,
    pub(super) error_type: &'static str,
    pub(super) code: Option<String>,
    /// The part of the request that is wrong.
    pub(super) param: Option<String>,
    pub(super) message: String,
    /// When to try again, in seconds.
    pub(super) retry_after: Option<u64>,
}

impl OpenAiError {
    /// A part of the request is not what it should be.
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

    /// Nobody of that name answers here.
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

    /// What became of a turn that failed.
    pub(super) fn from_error_chunk(error: &Value) -> Self {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let code = text("code");
        let status = match code {
            "rate_limit" | "quota" | "busy" => StatusCode::TOO_MANY_REQUESTS,
            "context_too_long" | "content_filter" | "bad_request" | "tools" => {
                StatusCode::BAD_REQUEST
            }
            "timeout" => StatusCode::GATEWAY_TIMEOUT,
            "overloaded" | "goodbye" | "gone" | "store" => StatusCode::SERVICE_UNAVAILABLE,
            "internal" | "approval" | "limit" | "failed" | "cancelled" => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            _ => StatusCode::BAD_GATEWAY,
        };
        let code = match code {
            "context_too_long" => "context_length_exceeded",
            // By this word, clients know that trying again is of no use.
            "quota" => "insufficient_quota",
            other => other,
        };
        Self {
            status,
            error_type: error_type_of(status),
            code: Some(code.to_owned()),
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
            code: Some(error.kind.to_owned()),
            param: None,
            retry_after: error.retry_after(),
            message: error.message,
        }
    }
}
