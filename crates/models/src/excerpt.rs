//! Excerpts of a vendor's text for error messages, without secrets.
//!
//! Every function redacts before it truncates: the first half of a key no longer looks like a key, so redaction would miss it.

use std::borrow::Cow;

use toolwright_chat::ModelError;
use toolwright_core::schema::redact;

use crate::limits::protocol_error;

/// The maximum length of an excerpt of a text that is not in the protocol, in bytes.
const MAX_EXCERPT_BYTES: usize = 200;

/// How much of a text is searched for secrets, in bytes: a frame may have megabytes, and little of it is shown.
const MAX_REDACTED_BYTES: usize = 64 << 10;

/// Redacts a text that is not in the protocol, and truncates it to 200 bytes.
pub(crate) fn excerpt(text: &str) -> String {
    let text = text.trim();
    let (redacted, is_truncated) = redact_prefix(text);
    let end = redacted.floor_char_boundary(MAX_EXCERPT_BYTES);
    truncate_with_ellipsis(&redacted, end, is_truncated)
}

/// Does the same to the start of a text whose rest was not kept.
pub(crate) fn excerpt_of_prefix(text: &str) -> String {
    let redacted = redact(without_last_word(text).trim());
    let end = redacted.floor_char_boundary(MAX_EXCERPT_BYTES);
    truncate_with_ellipsis(&redacted, end, true)
}

/// Redacts a text, and truncates it to a number of characters.
pub(crate) fn redact_and_truncate(text: &str, max_chars: usize) -> String {
    let (redacted, is_truncated) = redact_prefix(text);
    let end = redacted.char_indices().nth(max_chars);
    let end = end.map_or(redacted.len(), |(end, _)| end);
    truncate_with_ellipsis(&redacted, end, is_truncated)
}

/// The vendor's message, redacted; if it is blank, the status and an excerpt of the body.
pub(crate) fn message_or_status(message: &str, status: u16, body: &str) -> String {
    match excerpt(body).as_str() {
        _ if !message.trim().is_empty() => redact(message).into_owned(),
        "" => format!("the request was refused with status {status}"),
        excerpt => format!("the request was refused with status {status}: {excerpt}"),
    }
}

/// An error about a text that is not in the protocol, with an excerpt of it.
pub(crate) fn unreadable(problem: &str, text: &str, source: serde_json::Error) -> ModelError {
    protocol_error(format!("{problem}: {}", excerpt(text))).with_source(source)
}

/// Drops the last word of a text that was cut, because it may be the first half of a key.
///
/// A word ends at white space, a quote or an angle bracket: no key, and no address with a password, contains any of them.
pub(crate) fn without_last_word(prefix: &str) -> &str {
    let ends_word = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>');
    let end = prefix.rfind(ends_word).unwrap_or_default();
    prefix.get(..end).unwrap_or_default()
}

/// Redacts at most [`MAX_REDACTED_BYTES`] of a text; returns true if the rest was dropped.
fn redact_prefix(text: &str) -> (Cow<'_, str>, bool) {
    if text.len() <= MAX_REDACTED_BYTES {
        return (redact(text), false);
    }
    let end = text.floor_char_boundary(MAX_REDACTED_BYTES);
    let start = text.get(..end).unwrap_or_default();
    (redact(without_last_word(start)), true)
}

fn truncate_with_ellipsis(text: &str, end: usize, is_truncated: bool) -> String {
    let more = if is_truncated || end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests;
