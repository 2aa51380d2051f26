//! A refusal's status and body in, a [`ModelError`] out.

use std::time::Duration;

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire::{Refusal, Trouble};
use crate::excerpt::refused;

/// Says what a refusal is about; a status below 400 stands for an error inside a stream, which brings its own.
pub(super) fn error(status: u16, body: &str) -> ModelError {
    let trouble = trouble(body);
    let named = trouble.status.as_deref().map(code);
    let status = match status {
        400.. => status,
        _ => trouble.code.or(named).unwrap_or(500),
    };
    let message = match &trouble.message {
        Some(message) if !message.trim().is_empty() => redact(message).into_owned(),
        _ => refused(status, body),
    };
    let kind = kind(status, &trouble, &message);
    ModelError::new(kind, message).retry_after(wait(&trouble))
}

/// The error of a body: alone, or in a list of one as without `alt=sse`.
fn trouble(body: &str) -> Trouble {
    let refusal = serde_json::from_str::<Vec<Refusal>>(body)
        .ok()
        .and_then(|list| list.into_iter().next())
        .or_else(|| serde_json::from_str(body).ok());
    refusal
        .and_then(|refusal: Refusal| refusal.error)
        .unwrap_or_default()
}

fn kind(status: u16, trouble: &Trouble, message: &str) -> ModelErrorKind {
    let quotas = trouble.details.iter().flatten();
    let mut quotas = quotas.flat_map(|detail| detail.violations.iter().flatten());
    let mut details = trouble.details.iter().flatten();
    // A wrong key is an invalid argument there.
    let wrong_key = details.any(|detail| detail.reason.as_deref() == Some("API_KEY_INVALID"));
    let message = message.to_ascii_lowercase();
    match status {
        401 | 403 => ModelErrorKind::Auth,
        402 => ModelErrorKind::Quota,
        // Quotas of a minute are renewed soon, those of a day are not.
        429 if quotas.any(|quota| {
            quota
                .quota_id
                .as_deref()
                .is_some_and(|id| id.contains("PerDay"))
        }) =>
        {
            ModelErrorKind::Quota
        }
        429 => ModelErrorKind::RateLimit,
        500.. => ModelErrorKind::Overloaded,
        400 if wrong_key || message.contains("api key not valid") => ModelErrorKind::Auth,
        // There is no code for it: all invalid arguments look alike but for what they say.
        400 if message.contains("token count") && message.contains("exceeds") => {
            ModelErrorKind::ContextTooLong
        }
        _ => ModelErrorKind::BadRequest,
    }
}

/// The status code of a status that came by its name.
fn code(status: &str) -> u16 {
    match status {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "RESOURCE_EXHAUSTED" => 429,
        _ => 500,
    }
}

/// How long to wait, as in `34.07s`.
fn wait(trouble: &Trouble) -> Option<Duration> {
    let mut details = trouble.details.iter().flatten();
    let delay = details.find_map(|detail| detail.retry_delay.as_deref())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
