//! Converts errors of genai to `ModelError`s.

use std::time::Duration;

use genai::{Error, webc::StreamTimeout};
use toolwright::chat::{ModelError, ModelErrorKind as Kind};
use toolwright::schema::redact;

/// More of a message is seldom worth reading.
const MAX_MESSAGE_CHARS: usize = 500;

pub(crate) fn to_model_error(error: Error) -> ModelError {
    // Of a stream that was refused, only the error inside knows the status.
    let inner = match &error {
        Error::WebStream { error, .. } => error.downcast_ref(),
        _ => None,
    };
    let inner: &Error = inner.unwrap_or(&error);
    let message = redact(&inner.to_string()).into_owned();
    let contains = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    let kind = match (inner.status().map_or(0, |status| status.as_u16()), inner) {
        (401 | 403, _) => Kind::Auth,
        (413, _) => Kind::ContextTooLong,
        (400, _) if contains(&["context_length", "context length", "prompt is too long"]) => {
            Kind::ContextTooLong
        }
        (400, _) if contains(&["content_filter", "content filtering"]) => Kind::ContentFilter,
        (408 | 504, _) => Kind::Timeout,
        (402, _) => Kind::Quota,
        (429, _) if contains(&["insufficient_quota"]) => Kind::Quota,
        (429, _) => Kind::RateLimit,
        (409 | 500.., _) => Kind::Overloaded,
        // In the middle of an answer, what is not the request's fault is the provider's.
        (_, Error::ChatResponse { .. }) if !contains(&["invalid_request"]) => Kind::Overloaded,
        (_, Error::WebStream { error, .. }) if error.is::<StreamTimeout>() => Kind::Timeout,
        (_, Error::WebStream { .. } | Error::WebModelCall { .. }) => Kind::Network,
        (_, Error::StreamParse { .. } | Error::JsonValueExt(_)) => Kind::Protocol,
        (_, Error::RequiresApiKey { .. } | Error::NoAuthData { .. } | Error::Resolver { .. }) => {
            Kind::Auth
        }
        _ => Kind::BadRequest,
    };
    let number = |name| inner.headers()?.get(name)?.to_str().ok()?.parse::<f64>().ok();
    let milliseconds = number("retry-after-ms").or_else(|| Some(number("retry-after")? * 1_000.0));
    let wait = milliseconds.and_then(|wait| Duration::try_from_secs_f64(wait / 1_000.0).ok());
    let shown = match kind {
        // Other messages contain host names.
        Kind::Network => "the provider cannot be reached, or the line is cut".to_owned(),
        _ => message.chars().take(MAX_MESSAGE_CHARS).collect(),
    };
    ModelError::new(kind, shown).retry_after(wait).with_source(error)
}
