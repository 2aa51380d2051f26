//! A refusal's status and body in, a [`ModelError`] out.

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire::{Refusal, Trouble};
use crate::excerpt::refused;

/// Says what a refusal is about; a status below 400 stands for an error inside a stream, which seldom brings its own.
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
    let message = message.to_ascii_lowercase();
    // There is no code for it, and the status depends on where it was noticed.
    let too_long = ["context length", "available context", "context size"]
        .iter()
        .any(|words| message.contains(words));
    match status {
        401 | 403 => ModelErrorKind::Auth,
        402 => ModelErrorKind::Quota,
        // Its cloud limits what an account uses in hours and weeks.
        429 if message.contains("usage limit") => ModelErrorKind::Quota,
        429 => ModelErrorKind::RateLimit,
        400 | 413 | 500.. if too_long => ModelErrorKind::ContextTooLong,
        500.. => ModelErrorKind::Overloaded,
        _ => ModelErrorKind::BadRequest,
    }
}
