//! The table of vendor errors: a status, codes and a message in, a [`ModelErrorKind`] out.
//!
//! All protocols use it. Servers imitate each other's protocols and keep their own codes, so a code means the same wherever it
//! comes from; a protocol only knows where its error bodies have the codes and the message.

use toolwright_chat::ModelErrorKind::{self, *};

use self::ErrorPattern::*;

/// An error as a vendor reports it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VendorError<'a> {
    /// The HTTP status, or the one that an error inside a stream names; 0 if it names none.
    pub(crate) status: u16,
    /// Codes, types and reasons; an empty one fits no row.
    pub(crate) codes: &'a [&'a str],
    /// The message, in any case.
    pub(crate) message: &'a str,
}

/// What a row of the table recognises an error by.
#[derive(Clone, Copy, Debug)]
enum ErrorPattern {
    /// The status, from the first to the last.
    StatusRange(u16, u16),
    /// A code, in any case.
    Code(&'static str),
    /// A part of a code.
    CodeContains(&'static str),
    /// Words of the message, all of them.
    MessageContains(&'static [&'static str]),
    /// Words of a message that comes with this status.
    StatusAndMessageContains(u16, &'static str),
}

/// The first row that has a sign of the error gives its kind.
const ERROR_PATTERNS: &[(ModelErrorKind, &[ErrorPattern])] = &[
    // Before every other status: an empty account is reported as 400, 401, 403 or 429.
    (
        Quota,
        &[
            StatusRange(402, 402),
            Code("insufficient_quota"),
            Code("insufficient_balance"),
            Code("billing_error"),
            Code("billing_hard_limit_reached"),
            Code("billing_not_active"),
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
            Code("content_filter"),
            Code("moderation_blocked"),
            // OpenAI: a prompt is invalid when it is flagged.
            Code("invalid_prompt"),
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
            Code("context_length_exceeded"),
            Code("request_too_large"),
            // llama.cpp
            Code("exceed_context_size_error"),
        ],
    ),
    // Before the words: a limit of tokens per minute is explained in much the same ones.
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
    (
        ContentFilter,
        &[MessageContains(&["content filtering policy"])],
    ),
    (Timeout, &[StatusRange(408, 408), StatusRange(504, 504)]),
    // 498 is Groq's: there is no capacity left.
    (
        Overloaded,
        &[StatusRange(498, 498), StatusRange(500, u16::MAX)],
    ),
    // From here on the status is 0, or one of the 4xx that mean anything.
    (
        Auth,
        &[
            Code("invalid_api_key"),
            Code("api_key_invalid"),
            Code("authentication_error"),
            Code("unauthenticated"),
            Code("permission_error"),
            Code("permission_denied"),
            MessageContains(&["api key not valid"]),
        ],
    ),
    (
        RateLimit,
        &[
            Code("rate_limit_error"),
            Code("rate_limit_exceeded"),
            Code("rate_limit_reached_error"),
            Code("resource_exhausted"),
        ],
    ),
    (Timeout, &[Code("timeout_error"), Code("deadline_exceeded")]),
    (
        Overloaded,
        &[
            Code("api_error"),
            Code("internal_error"),
            Code("overloaded_error"),
            Code("server_error"),
            Code("server_is_overloaded"),
            Code("slow_down"),
            Code("unavailable_error"),
            Code("vector_store_timeout"),
        ],
    ),
    (
        BadRequest,
        &[
            StatusRange(1, 499),
            Code("bad_request"),
            Code("badrequesterror"),
            Code("invalid_argument"),
            Code("invalid_request_error"),
            Code("model_not_found"),
            Code("not_found_error"),
        ],
    ),
];

/// Returns the kind of an error; `None` only if it is inside a stream, names no status, and no row of the table fits.
pub(crate) fn classify(report: VendorError<'_>) -> Option<ModelErrorKind> {
    let message = report.message.to_ascii_lowercase();
    let codes = report.codes.iter().map(|code| code.to_ascii_lowercase());
    let codes: Vec<String> = codes.collect();
    let has = |sign: &ErrorPattern| match *sign {
        StatusRange(first, last) => (first..=last).contains(&report.status),
        Code(known) => codes.iter().any(|code| code == known),
        CodeContains(part) => codes.iter().any(|code| code.contains(part)),
        MessageContains(words) => words.iter().all(|words| message.contains(words)),
        StatusAndMessageContains(status, words) => {
            status == report.status && message.contains(words)
        }
    };
    let mut rows = ERROR_PATTERNS.iter();
    rows.find_map(|(kind, signs)| signs.iter().any(has).then_some(*kind))
}

#[cfg(test)]
mod tests;
