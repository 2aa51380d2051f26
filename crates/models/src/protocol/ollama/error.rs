//! The body of an error response, or an error inside a stream in; a [`ModelError`] out.

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire::{ErrorBody, ErrorEnvelope};
use crate::excerpt::describe_error_status;
use crate::protocol::vendor_errors::{self, VendorError};

/// Reads the body of an error response; a status below 400 is an error inside a stream, which seldom names its own.
pub(super) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let refusal: ErrorEnvelope<'_> = serde_json::from_str(body).unwrap_or_default();
    let status = match status {
        400.. => status,
        _ => refusal.status.unwrap_or(500),
    };
    let message = match error_message(&refusal) {
        Some(message) if !message.trim().is_empty() => redact(&message).into_owned(),
        _ => describe_error_status(status, body),
    };
    ModelError::new(error_kind(status, &message), message)
}

/// The error's text: alone, or inside an object where another server's error is passed on.
fn error_message(refusal: &ErrorEnvelope<'_>) -> Option<String> {
    let error = refusal.error?.get();
    if let Ok(message) = serde_json::from_str(error) {
        return Some(message);
    }
    serde_json::from_str::<ErrorBody>(error).ok()?.message
}

fn error_kind(status: u16, message: &str) -> ModelErrorKind {
    let report = VendorError {
        status,
        codes: &[],
        message,
    };
    vendor_errors::classify(report).unwrap_or(ModelErrorKind::Overloaded)
}
