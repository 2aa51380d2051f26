//! What the API says is wrong in, a `ModelError` out.

use serde_json::Value;
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire;
use crate::excerpt::truncated;

/// More of a body that is no JSON is seldom worth reading.
const LONGEST: usize = 300;

/// Reads the answer to a request that was refused.
pub(super) fn error(status: u16, body: &str) -> ModelError {
    let parsed: Value = serde_json::from_str(body).unwrap_or_default();
    let told = parsed.get("error").unwrap_or(&parsed);
    let mut error: wire::Error = serde_json::from_str(&told.to_string()).unwrap_or_default();
    if error.message.is_empty() {
        error.message = match told.as_str() {
            Some(text) => text.to_owned(),
            None => truncated(body.trim(), LONGEST),
        };
    }
    let kind = by_status(status).or_else(|| by_type(&error.kind));
    told_as(refined(kind, status, &error), &error, Some(status))
}

/// Reads what stands in the stream instead of the rest of an answer.
pub(super) fn in_stream(error: &wire::Error) -> ModelError {
    told_as(refined(by_type(&error.kind), 0, error), error, None)
}

fn told_as(kind: ModelErrorKind, error: &wire::Error, status: Option<u16>) -> ModelError {
    let message = match (error.message.as_str(), status) {
        ("", Some(status)) => format!("the API answered with status {status}"),
        ("", None) if error.kind.is_empty() => "the API broke off the answer".to_owned(),
        ("", None) => redact(&error.kind).into_owned(),
        (message, _) => redact(message).into_owned(),
    };
    ModelError::new(kind, message)
}

fn by_status(status: u16) -> Option<ModelErrorKind> {
    match status {
        401 | 403 => Some(ModelErrorKind::Auth),
        402 => Some(ModelErrorKind::Quota),
        408 | 504 => Some(ModelErrorKind::Timeout),
        413 => Some(ModelErrorKind::ContextTooLong),
        429 => Some(ModelErrorKind::RateLimit),
        500..=599 => Some(ModelErrorKind::Overloaded),
        _ => None,
    }
}

fn by_type(name: &str) -> Option<ModelErrorKind> {
    match name {
        "authentication_error" | "permission_error" => Some(ModelErrorKind::Auth),
        "rate_limit_error" => Some(ModelErrorKind::RateLimit),
        "billing_error" => Some(ModelErrorKind::Quota),
        "overloaded_error" | "api_error" => Some(ModelErrorKind::Overloaded),
        "timeout_error" => Some(ModelErrorKind::Timeout),
        // The second is llama.cpp's word.
        "request_too_large" | "exceed_context_size_error" => Some(ModelErrorKind::ContextTooLong),
        _ => None,
    }
}

/// The API has no code of its own for three kinds of bad request: only the sentence tells.
fn refined(kind: Option<ModelErrorKind>, status: u16, error: &wire::Error) -> ModelErrorKind {
    if let Some(kind) = kind {
        return kind;
    }
    let message = error.message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if !matches!(status, 0 | 400) {
        ModelErrorKind::BadRequest
    } else if says(&["prompt is too long", "exceed context limit", "context size"]) {
        ModelErrorKind::ContextTooLong
    } else if says(&["credit balance is too low"]) {
        ModelErrorKind::Quota
    } else if says(&["content filtering policy"]) {
        ModelErrorKind::ContentFilter
    } else {
        ModelErrorKind::BadRequest
    }
}
