//! Error responses, by status and by body.

use toolwright_chat::ModelErrorKind::{
    Auth, BadRequest, ContentFilter, ContextTooLong, Overloaded, Quota, RateLimit, Timeout,
};

use crate::protocol::Protocol as _;
use crate::protocol::anthropic::Anthropic;

#[test]
fn every_error_has_its_kind_and_the_vendors_message() {
    let rows = [
        (401, "authentication_error", "invalid x-api-key", Auth),
        (403, "permission_error", "not allowed", Auth),
        (402, "billing_error", "pay first", Quota),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            Quota,
        ),
        (404, "not_found_error", "model: nope", BadRequest),
        (413, "request_too_large", "too many bytes", ContextTooLong),
        (429, "rate_limit_error", "slow down", RateLimit),
        (500, "api_error", "internal", Overloaded),
        (503, "api_error", "unavailable", Overloaded),
        (504, "timeout_error", "took too long", Timeout),
        (529, "overloaded_error", "Overloaded", Overloaded),
        (400, "invalid_request_error", "max_tokens: too large", BadRequest),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 207791 tokens > 200000 maximum",
            ContextTooLong,
        ),
        (400, "exceed_context_size_error", "the request is too long", ContextTooLong),
        (400, "invalid_request_error", "Output blocked by content filtering policy", ContentFilter),
    ];
    for (status, kind, message, expected) in rows {
        let body = format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
        );
        let error = Anthropic.parse_error(status, &body);
        assert_eq!(error.kind, expected, "{status} {kind} {message}");
        assert_eq!(error.message, message);
    }
}

#[test]
fn an_unknown_error_body_is_quoted() {
    let parse = |status, body: &str| Anthropic.parse_error(status, body);
    assert_eq!(parse(502, "<html>bad gateway</html>").message, "<html>bad gateway</html>");
    assert_eq!(parse(502, "").message, "the API answered with status 502");
    assert_eq!(parse(400, r#"{"error":"no such model"}"#).message, "no such model");
    assert_eq!(parse(400, r#"{"message":"nope"}"#).message, "nope");
    assert!(parse(400, &"x".repeat(10_000)).message.chars().count() < 400);
}
