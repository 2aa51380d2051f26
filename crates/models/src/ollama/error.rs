//! The body of an error response, or an error inside a stream in; a [`ModelError`] out.

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire::{Refusal, Trouble};
use crate::excerpt::refused;
use crate::vendor_errors::{self, Report};

/// Reads the body of an error response; a status below 400 is an error inside a stream, which seldom names its own.
pub(super) fn error(status: u16, body: &str) -> ModelError {
    let refusal: Refusal<'_> = serde_json::from_str(body).unwrap_or_default();
    let status = match status {
        400.. => status,
        _ => refusal.status.unwrap_or(500),
    };
    let message = match message(&refusal) {
        Some(message) if !message.trim().is_empty() => redact(&message).into_owned(),
        _ => refused(status, body),
    };
    ModelError::new(kind(status, &message), message)
}

/// The error's text: alone, or inside an object where another server's error is passed on.
fn message(refusal: &Refusal<'_>) -> Option<String> {
    let error = refusal.error?.get();
    if let Ok(message) = serde_json::from_str(error) {
        return Some(message);
    }
    serde_json::from_str::<Trouble>(error).ok()?.message
}

fn kind(status: u16, message: &str) -> ModelErrorKind {
    let report = Report {
        status,
        codes: &[],
        message,
    };
    vendor_errors::kind(report).unwrap_or(ModelErrorKind::Overloaded)
}
