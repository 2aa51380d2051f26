//! The body of an error response, or an error frame in; a [`ModelError`] out.

use serde_json::Value;
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire;
use crate::excerpt::truncated;
use crate::vendor_errors::{self, Report};

/// The longest part of a body without a message, in characters.
const LONGEST: usize = 300;

/// Reads the body of a response whose status is not success.
pub(super) fn error(status: u16, body: &str) -> ModelError {
    let parsed: Value = serde_json::from_str(body).unwrap_or_default();
    let details = parsed.get("error").unwrap_or(&parsed);
    let error: wire::Error = serde_json::from_str(&details.to_string()).unwrap_or_default();
    let message = match (error.message.as_str(), details.as_str()) {
        ("", Some(text)) => redact(text).into_owned(),
        ("", None) => truncated(body.trim(), LONGEST),
        (message, _) => redact(message).into_owned(),
    };
    let kind = kind(status, &error.kind, &message);
    let message = match message.as_str() {
        "" => format!("the API answered with status {status}"),
        _ => message,
    };
    ModelError::new(kind, message)
}

/// Reads an error frame, which ends an answer.
pub(super) fn in_stream(error: &wire::Error) -> ModelError {
    let kind = kind(0, &error.kind, &error.message);
    let message = match (error.message.as_str(), error.kind.as_str()) {
        ("", "") => "the API broke off the answer",
        ("", kind) => kind,
        (message, _) => message,
    };
    ModelError::new(kind, redact(message))
}

fn kind(status: u16, code: &str, message: &str) -> ModelErrorKind {
    let report = Report {
        status,
        codes: &[code],
        message,
    };
    vendor_errors::kind(report).unwrap_or(ModelErrorKind::BadRequest)
}
