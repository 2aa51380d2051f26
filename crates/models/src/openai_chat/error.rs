//! What a vendor says went wrong in, a ModelError out.

use serde_json::Value;
use toolwright_chat::{ModelError, ModelErrorKind};

use crate::excerpt::truncated;

/// No more of a message is told: some answer with a page of HTML.
const LONGEST: usize = 500;

/// Reads the body of an answer that is not a success.
pub(super) fn error(status: u16, body: &str) -> ModelError {
    let value = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
    of_value(status, &value)
}

/// Reads what stands for an error, in a body or in a stream; no status is 0.
pub(super) fn of_value(status: u16, value: &Value) -> ModelError {
    // Google's imitation wraps errors into a list.
    let value = value.get(0).unwrap_or(value);
    let said = value
        .get("error")
        .filter(|said| !said.is_null())
        .unwrap_or(value);
    let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default();
    let code = said.get("code");
    let status = match code.and_then(number) {
        Some(code) if status == 0 && (400..600).contains(&code) => code,
        _ => status,
    };
    let inner = said
        .pointer("/innererror/code")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let words = [
        text("type"),
        code.and_then(Value::as_str).unwrap_or_default(),
        text("status"),
        inner,
    ];
    let message = message(said);
    let kind = kind(status, &words, &message);
    let message = if message.is_empty() {
        match status {
            0 => "the vendor reports an error without saying which".to_owned(),
            status => format!("the vendor answers with status {status}"),
        }
    } else {
        message
    };
    ModelError::new(kind, message)
}

fn number(code: &Value) -> Option<u16> {
    let number = match code {
        Value::String(digits) => digits.parse().ok()?,
        other => other.as_u64()?,
    };
    u16::try_from(number).ok()
}

/// The vendor's message, wherever it stands.
fn message(said: &Value) -> String {
    let found = ["message", "detail", "msg", "error"]
        .iter()
        .filter_map(|name| said.get(name))
        .find(|found| !found.is_null());
    let mut text = match found.unwrap_or(said) {
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    // OpenRouter says only that the vendor behind it failed, and quotes that one here.
    if let Some(raw) = said.pointer("/metadata/raw").and_then(Value::as_str) {
        text = format!("{text}: {raw}");
    }
    truncated(&text, LONGEST)
}

fn kind(status: u16, words: &[&str], message: &str) -> ModelErrorKind {
    let any = |known: &[&str]| {
        words
            .iter()
            .any(|word| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    let told = message.to_ascii_lowercase();
    if any(NO_CREDIT)
        || status == 402
        || NO_CREDIT_IN_WORDS.iter().any(|words| told.contains(words))
    {
        return ModelErrorKind::Quota;
    }
    if status == 401 || status == 403 && !any(FILTERED) {
        return ModelErrorKind::Auth;
    }
    if any(TOO_LONG) || status == 413 {
        return ModelErrorKind::ContextTooLong;
    }
    if any(FILTERED) {
        return ModelErrorKind::ContentFilter;
    }
    // Not every server has a code for it, but all say it in much the same words.
    if !matches!(status, 429) && TOO_LONG_IN_WORDS.iter().any(|words| told.contains(words)) {
        return ModelErrorKind::ContextTooLong;
    }
    match status {
        408 | 504 => ModelErrorKind::Timeout,
        429 => ModelErrorKind::RateLimit,
        498 | 500.. => ModelErrorKind::Overloaded,
        _ if any(LIMITED) => ModelErrorKind::RateLimit,
        _ if any(REFUSED_KEY) => ModelErrorKind::Auth,
        0 if any(REFUSED) => ModelErrorKind::BadRequest,
        // In the middle of an answer, what is not the request's fault is the server's.
        0 => ModelErrorKind::Overloaded,
        _ => ModelErrorKind::BadRequest,
    }
}

const TOO_LONG: &[&str] = &["context_length_exceeded", "exceed_context_size_error"];

const TOO_LONG_IN_WORDS: &[&str] = &[
    "maximum context length",
    "maximum prompt length",
    "context window",
    "available context size",
    "exceeds the context",
    "context length exceeded",
    "reduce the length of the messages",
    "prompt is too long",
];

const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_balance",
];

/// Not every vendor has a code for it: these are xAI's and DeepSeek's words.
const NO_CREDIT_IN_WORDS: &[&str] = &["used all available credits", "insufficient balance"];

const FILTERED: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "moderation_blocked",
];

const LIMITED: &[&str] = &[
    "rate_limit_exceeded",
    "rate_limit_error",
    "rate_limit_reached_error",
    "resource_exhausted",
];

const REFUSED_KEY: &[&str] = &[
    "invalid_api_key",
    "authentication_error",
    "permission_error",
    "permission_denied",
    "unauthenticated",
];

const REFUSED: &[&str] = &[
    "invalid_request_error",
    "invalid_argument",
    "badrequesterror",
    "bad_request",
    "model_not_found",
];
