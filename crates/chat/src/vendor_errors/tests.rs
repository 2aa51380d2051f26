//! The rows of the table.

use std::collections::HashSet;

use super::*;

#[test]
fn no_pattern_is_in_the_table_twice_and_all_are_in_lower_case() {
    let mut seen = HashSet::new();
    for sign in ERROR_PATTERNS.iter().flat_map(|(_, signs)| signs.iter()) {
        assert!(seen.insert(format!("{sign:?}")), "{sign:?}");
        let texts: &[&str] = match sign {
            StatusRange(..) => &[],
            Codes(text) | CodeContains(text) | StatusAndMessageContains(_, text) => &[text],
            MessageContains(texts) => texts,
        };
        for text in texts {
            assert_eq!(text.to_ascii_lowercase(), *text, "{sign:?}");
        }
    }
}

#[test]
fn what_is_more_exact_than_the_status_comes_first() {
    let rows = [
        (400, "", "Your credit balance is too low", Some(Quota)),
        (403, "insufficient_quota", "", Some(Quota)),
        (429, "insufficient_quota", "", Some(Quota)),
        (429, "", "you have reached your weekly usage limit", Some(Quota)),
        (400, "", "the usage limit of this tool is 5", Some(BadRequest)),
        (403, "content_filter", "", Some(ContentFilter)),
        (403, "permission_denied", "", Some(Auth)),
        (500, "exceed_context_size_error", "", Some(ContextTooLong)),
        (500, "", "exceeds the context window", Some(ContextTooLong)),
        (429, "", "your context window per minute is full", Some(RateLimit)),
        // No other code changes the meaning of a 5xx.
        (503, "rate_limit_error", "", Some(Overloaded)),
        (504, "server_error", "", Some(Timeout)),
        (408, "", "", Some(Timeout)),
        (409, "invalid_request_error", "", Some(Overloaded)),
        (400, "SERVER_ERROR", "", Some(Overloaded)),
        (422, "something_new", "", Some(BadRequest)),
        (0, "rate_limit_exceeded", "", Some(RateLimit)),
        (0, "invalid_request_error", "", Some(BadRequest)),
        (0, "something_new", "", None),
        (0, "", "", None),
    ];
    for (status, code, message, expected) in rows {
        let report = VendorError { status, codes: &["", code], message };
        assert_eq!(classify(report), expected, "{report:?}");
    }
}
