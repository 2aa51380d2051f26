//! What the API says went wrong in, a [`ModelError`] of the right kind out.

use serde_json::value::RawValue;
use toolwright_chat::{ModelError, ModelErrorKind};

use super::wire::{Frame, Trouble, as_text};
use crate::excerpt::truncated;

/// More of a message than this tells nobody more.
const LONGEST: usize = 500;

/// The longest part of a frame that is not JSON, in characters.
const LONGEST_FRAME: usize = 40;

/// Reads the body of an answer whose status is not success.
pub(crate) fn error(status: u16, body: &str) -> ModelError {
    let trouble = trouble_in(body).unwrap_or_default();
    let kind = match status {
        401 | 403 => ModelErrorKind::Auth,
        402 => ModelErrorKind::Quota,
        429 => match known(&trouble) {
            Some(ModelErrorKind::Quota) => ModelErrorKind::Quota,
            _ => ModelErrorKind::RateLimit,
        },
        _ => known(&trouble).unwrap_or(match status {
            408 => ModelErrorKind::Timeout,
            500.. => ModelErrorKind::Overloaded,
            _ => ModelErrorKind::BadRequest,
        }),
    };
    let message = trouble.message.filter(|message| !message.trim().is_empty());
    let message = message.unwrap_or_else(|| match body.trim() {
        "" => format!("the vendor answers with status {status} and no reason"),
        body => format!("status {status}: {body}"),
    });
    ModelError::new(kind, truncated(message.trim(), LONGEST))
}

/// Reads a frame that ends an answer with an error, or the error of a response that failed.
pub(super) fn in_stream(frame: &str, error: Option<&RawValue>) -> ModelError {
    // The details stand in the frame itself, or one level down.
    let trouble = error
        .and_then(|error| details(error.get()))
        .or_else(|| details(frame));
    let trouble = trouble.unwrap_or_default();
    let blamed = trouble.code.is_some() || trouble.kind.as_deref() == Some("invalid_request_error");
    let kind = known(&trouble).unwrap_or(if blamed {
        ModelErrorKind::BadRequest
    } else {
        // The request was accepted, and then something broke.
        ModelErrorKind::Overloaded
    });
    let message = trouble.message.filter(|message| !message.trim().is_empty());
    let message = message.or(trouble.code).map_or_else(
        || "the vendor gave up without a reason".to_owned(),
        |message| truncated(message.trim(), LONGEST),
    );
    ModelError::new(kind, message)
}

/// A frame that cannot be read.
pub(super) fn garbage(data: &str, error: serde_json::Error) -> ModelError {
    let excerpt = truncated(data, LONGEST_FRAME);
    let message = format!("a frame of the answer cannot be read: `{excerpt}`");
    ModelError::new(ModelErrorKind::Protocol, message).with_source(error)
}

fn trouble_in(body: &str) -> Option<Trouble> {
    let frame: Frame<'_> = serde_json::from_str(body).ok()?;
    match frame.error {
        Some(error) => details(error.get()),
        None => details(body),
    }
}

/// An object with the details, or the message alone as text.
fn details(json: &str) -> Option<Trouble> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    if let Ok(trouble) = serde_json::from_str::<Trouble>(json) {
        let empty = trouble.message.is_none() && trouble.code.is_none();
        return (!empty).then_some(trouble);
    }
    Some(Trouble {
        message: as_text(raw),
        ..Trouble::default()
    })
}

/// The kind, where code, type or message give it away.
fn known(trouble: &Trouble) -> Option<ModelErrorKind> {
    let code = trouble.code.as_deref().unwrap_or_default();
    let message = trouble.message.as_deref().unwrap_or_default();
    by_word(code)
        .or_else(|| by_word(trouble.kind.as_deref().unwrap_or_default()))
        .or_else(|| {
            // Servers that imitate the API often have no code for it.
            let message = message.to_lowercase();
            let told = ["maximum context length", "context window", "context size"]
                .iter()
                .any(|words| message.contains(words));
            told.then_some(ModelErrorKind::ContextTooLong)
        })
}

fn by_word(word: &str) -> Option<ModelErrorKind> {
    Some(match word {
        "context_length_exceeded" | "exceed_context_size_error" => ModelErrorKind::ContextTooLong,
        "rate_limit_exceeded" | "rate_limit_error" => ModelErrorKind::RateLimit,
        "insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active" => {
            ModelErrorKind::Quota
        }
        "server_error"
        | "internal_error"
        | "server_is_overloaded"
        | "slow_down"
        | "overloaded_error"
        | "unavailable_error"
        | "vector_store_timeout" => ModelErrorKind::Overloaded,
        "invalid_api_key" | "authentication_error" | "permission_error" => ModelErrorKind::Auth,
        // A prompt is invalid when it is flagged.
        "content_filter" | "invalid_prompt" | "moderation_blocked" => ModelErrorKind::ContentFilter,
        word if word.contains("policy") => ModelErrorKind::ContentFilter,
        _ => return None,
    })
}
