//! Parses error responses and error frames.

use serde_json::Value;
use toolwright_chat::vendor_errors::{self, VendorError};
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire;
use crate::excerpt::redact_and_truncate;

/// The maximum length of an excerpt of a body without a message, in characters.
const MAX_BODY_EXCERPT_CHARS: usize = 300;

/// Parses the body of an error response.
pub(super) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let parsed: Value = serde_json::from_str(body).unwrap_or_default();
    let details = parsed.get("error").unwrap_or(&parsed);
    let error: wire::ErrorBody = serde_json::from_str(&details.to_string()).unwrap_or_default();
    let message = match (error.message.as_str(), details.as_str()) {
        ("", Some(text)) => redact(text).into_owned(),
        ("", None) => redact_and_truncate(body.trim(), MAX_BODY_EXCERPT_CHARS),
        (message, _) => redact(message).into_owned(),
    };
    let kind = error_kind(status, &error.kind, &message);
    let message = match message.as_str() {
        "" => format!("the API answered with status {status}"),
        _ => message,
    };
    ModelError::new(kind, message)
}

/// Parses an error frame, which ends a response.
pub(super) fn parse_error_frame(error: &wire::ErrorBody) -> ModelError {
    let kind = error_kind(0, &error.kind, &error.message);
    let message = match (error.message.as_str(), error.kind.as_str()) {
        ("", "") => "the API broke off the answer",
        ("", kind) => kind,
        (message, _) => message,
    };
    ModelError::new(kind, redact(message))
}

fn error_kind(status: u16, code: &str, message: &str) -> ModelErrorKind {
    let error = VendorError { status, codes: &[code], message };
    vendor_errors::classify(error).unwrap_or(ModelErrorKind::BadRequest)
}
