//! Parses error responses, and errors inside a stream.

use toolwright_chat::vendor_errors::{self, VendorError};
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire::{ErrorBody, ErrorEnvelope};
use crate::excerpt::describe_error_status;

/// Parses an error body; a status below 400 is an error inside a stream, which seldom has a status.
pub(super) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let envelope: ErrorEnvelope<'_> = serde_json::from_str(body).unwrap_or_default();
    let status = match status {
        400.. => status,
        _ => envelope.status.unwrap_or(500),
    };
    let message = match error_message(&envelope) {
        Some(message) if !message.trim().is_empty() => redact(&message).into_owned(),
        _ => describe_error_status(status, body),
    };
    ModelError::new(error_kind(status, &message), message)
}

/// The error's text, or the message in an object that another server sent.
fn error_message(envelope: &ErrorEnvelope<'_>) -> Option<String> {
    let error = envelope.error?.get();
    if let Ok(message) = serde_json::from_str(error) {
        return Some(message);
    }
    serde_json::from_str::<ErrorBody>(error).ok()?.message
}

fn error_kind(status: u16, message: &str) -> ModelErrorKind {
    let error = VendorError { status, codes: &[], message };
    vendor_errors::classify(error).unwrap_or(ModelErrorKind::Overloaded)
}
