//! Converts errors of genai to `ModelError`s.

use std::time::Duration;

use genai::{Error, webc::StreamTimeout};
use toolwright::chat::vendor_errors::{VendorError, classify};
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
    // The text of an error contains the provider's body, in which a code is a word in quotes.
    let codes: Vec<&str> = message.split('"').filter(|text| !text.contains(' ')).collect();
    let status = inner.status().map(|status| status.as_u16());
    let error_kind = |status| classify(VendorError { status, codes: &codes, message: &message });
    let kind = match (status, inner) {
        (Some(status), _) => error_kind(status).unwrap_or(Kind::BadRequest),
        // In the middle of an answer, what is not the request's fault is the provider's.
        (_, Error::ChatResponse { .. }) => error_kind(0).unwrap_or(Kind::Overloaded),
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
