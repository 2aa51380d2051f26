//! The table that maps a vendor's status, codes and message to a [`ModelErrorKind`], for implementations of
//! [`Model`](crate::Model).
//!
//! Servers imitate each other's protocols and keep their own codes, so a code means the same wherever it
//! comes from; a protocol only knows where its error bodies have the codes and the message.

use crate::error::ModelErrorKind::{self, *};

use self::ErrorPattern::*;

/// An error as a vendor reports it.
#[derive(Clone, Copy, Debug, Default)]
pub struct VendorError<'a> {
    /// The HTTP status, or the status in a streamed error; 0 if there is none.
    pub status: u16,
    /// Codes, types and reasons; an empty one matches no row.
    pub codes: &'a [&'a str],
    /// The message; upper and lower case match alike.
    pub message: &'a str,
}

/// What a row of the table recognises an error by.
#[derive(Clone, Copy, Debug)]
enum ErrorPattern {
    /// A status from the first to the last, inclusive.
    StatusRange(u16, u16),
    /// One of these codes, which are separated by spaces; upper and lower case match alike.
    Codes(&'static str),
    /// A code contains this text.
    CodeContains(&'static str),
    /// The message contains all these texts.
    MessageContains(&'static [&'static str]),
    /// The status is this one, and the message contains this text.
    StatusAndMessageContains(u16, &'static str),
}

/// The first row with a matching pattern gives the kind.
const ERROR_PATTERNS: &[(ModelErrorKind, &[ErrorPattern])] = &[
    // Before every other status: an empty account is reported as 400, 401, 403 or 429.
    (
        Quota,
        &[
            StatusRange(402, 402),
            Codes(
                "insufficient_quota insufficient_balance billing_error \
                billing_hard_limit_reached billing_not_active",
            ),
            // Gemini: a quota per minute is renewed soon, one per day is not.
            CodeContains("perday"),
            // Anthropic, xAI and DeepSeek have no code for it.
            MessageContains(&["credit balance is too low"]),
            MessageContains(&["used all available credits"]),
            MessageContains(&["insufficient balance"]),
            // Ollama's cloud limits the usage of hours and weeks.
            StatusAndMessageContains(429, "usage limit"),
        ],
    ),
    (Auth, &[StatusRange(401, 401)]),
    // Before 403, which some send for a filtered prompt.
    (
        ContentFilter,
        &[
            Codes("content_filter moderation_blocked"),
            // OpenAI: a prompt is invalid when it is flagged.
            Codes("invalid_prompt"),
            // `content_policy_violation`, `bio_policy`, Azure's `ResponsibleAIPolicyViolation`.
            CodeContains("policy"),
        ],
    ),
    (Auth, &[StatusRange(403, 403)]),
    // Before 429 and 500, which some send for it.
    (
        ContextTooLong,
        &[
            StatusRange(413, 413),
            Codes("context_length_exceeded request_too_large"),
            // llama.cpp
            Codes("exceed_context_size_error"),
        ],
    ),
    // Before the messages: that of a limit of tokens per minute is much the same.
    (RateLimit, &[StatusRange(429, 429)]),
    // Not every server has a code for it, and the status depends on where it was noticed.
    (
        ContextTooLong,
        &[
            MessageContains(&["context length"]),
            MessageContains(&["context size"]),
            MessageContains(&["context window"]),
            MessageContains(&["available context"]),
            MessageContains(&["exceeds the context"]),
            MessageContains(&["exceed context limit"]),
            MessageContains(&["maximum prompt length"]),
            MessageContains(&["prompt is too long"]),
            MessageContains(&["reduce the length of the messages"]),
            MessageContains(&["token count", "exceeds"]),
        ],
    ),
    (ContentFilter, &[MessageContains(&["content filtering policy"])]),
    (Timeout, &[StatusRange(408, 408), StatusRange(504, 504)]),
    // 409 is a conflict that a retry resolves; 498 is Groq's: there is no capacity left.
    (Overloaded, &[StatusRange(409, 409), StatusRange(498, 498), StatusRange(500, u16::MAX)]),
    // From here on the status is 0, or a 4xx without a meaning of its own.
    (
        Auth,
        &[
            Codes(
                "invalid_api_key api_key_invalid authentication_error unauthenticated \
                permission_error permission_denied",
            ),
            MessageContains(&["api key not valid"]),
        ],
    ),
    (
        RateLimit,
        &[Codes(
            "rate_limit_error rate_limit_exceeded rate_limit_reached_error \
                resource_exhausted",
        )],
    ),
    (Timeout, &[Codes("timeout_error deadline_exceeded")]),
    (
        Overloaded,
        &[Codes(
            "api_error internal_error overloaded_error server_error \
                server_is_overloaded slow_down unavailable_error vector_store_timeout",
        )],
    ),
    (
        BadRequest,
        &[
            StatusRange(1, 499),
            Codes(
                "bad_request badrequesterror invalid_argument invalid_request_error \
                model_not_found not_found_error",
            ),
        ],
    ),
];

/// Returns the kind of an error; `None` only for an error in a stream that has no status and matches no row.
pub fn classify(error: VendorError<'_>) -> Option<ModelErrorKind> {
    let message = error.message.to_ascii_lowercase();
    let codes = error.codes.iter().map(|code| code.to_ascii_lowercase());
    let codes: Vec<String> = codes.collect();
    let matches = |pattern: &ErrorPattern| match *pattern {
        StatusRange(first, last) => (first..=last).contains(&error.status),
        Codes(known) => known.split(' ').any(|known| codes.iter().any(|code| code == known)),
        CodeContains(part) => codes.iter().any(|code| code.contains(part)),
        MessageContains(parts) => parts.iter().all(|part| message.contains(part)),
        StatusAndMessageContains(status, part) => status == error.status && message.contains(part),
    };
    let mut rows = ERROR_PATTERNS.iter();
    rows.find_map(|(kind, patterns)| patterns.iter().any(matches).then_some(*kind))
}

#[cfg(test)]
mod tests;
