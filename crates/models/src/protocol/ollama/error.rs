//! Parses error responses, and errors inside a stream.

use toolwright_chat::vendor_errors::{self, VendorError};
use toolwright_chat::{ModelError, ModelErrorKind};

use super::wire::{ErrorBody, ErrorEnvelope};
use crate::excerpt::message_or_status;

/// Parses an error body; a status below 400 is an error inside a stream, which seldom has a status.
pub(super) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let envelope: ErrorEnvelope<'_> = serde_json::from_str(body).unwrap_or_default();
    let status = match status {
        400.. => status,
        _ => envelope.status.unwrap_or(500),
    };
    let message = error_message(&envelope).unwrap_or_default();
    let message = message_or_status(&message, status, body);
    let kind = vendor_errors::classify(VendorError { status, codes: &[], message: &message });
    ModelError::new(kind.unwrap_or(ModelErrorKind::Overloaded), message)
}

/// The error's text, or the message in an object that another server sent.
fn error_message(envelope: &ErrorEnvelope<'_>) -> Option<String> {
    let error = envelope.error?.get();
    if let Ok(message) = serde_json::from_str(error) {
        return Some(message);
    }
    serde_json::from_str::<ErrorBody>(error).ok()?.message
}
