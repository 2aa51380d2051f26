//! Error responses and their kinds.

use serde_json::{Value, json};
use toolwright_chat::ModelErrorKind as Kind;

use super::OPENAI;
use crate::protocol::Protocol as _;

#[test]
fn the_body_of_an_error_decides_its_kind() {
    let table: Vec<(u16, Value, Kind)> = vec![
        (401, json!({"error": {"message": "m", "code": "invalid_api_key"}}), Kind::Auth),
        (403, json!({"error": {"message": "m"}}), Kind::Auth),
        (429, json!({"error": {"message": "m", "code": "rate_limit_exceeded"}}), Kind::RateLimit),
        (429, json!({"error": {"message": "m", "type": "insufficient_quota"}}), Kind::Quota),
        (500, json!({"error": {"message": "m"}}), Kind::Overloaded),
        (503, json!({"error": {"message": "m"}}), Kind::Overloaded),
        (529, json!({"error": {"message": "m"}}), Kind::Overloaded),
        (498, json!({"error": {"message": "m"}}), Kind::Overloaded),
        (
            400,
            json!({"error": {"message": "m", "code": "context_length_exceeded"}}),
            Kind::ContextTooLong,
        ),
        (
            500,
            json!({"error": {"message": "m", "type": "exceed_context_size_error", "code": 500}}),
            Kind::ContextTooLong,
        ),
        (413, json!({"error": {"message": "m"}}), Kind::ContextTooLong),
        (400, json!({"error": {"message": "m", "code": "content_filter"}}), Kind::ContentFilter),
        (
            400,
            json!({"error": {"message": "m", "code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
            Kind::ContentFilter,
        ),
        (400, json!({"error": {"message": "m"}}), Kind::BadRequest),
        (402, json!({"error": {"message": "m"}}), Kind::Quota),
        (404, json!({"error": {"message": "m", "code": "model_not_found"}}), Kind::BadRequest),
        (
            400,
            json!({"object": "error", "message": "m", "type": "invalid_request_error"}),
            Kind::BadRequest,
        ),
        (422, json!({"detail": "m"}), Kind::BadRequest),
        (400, json!([{"error": {"message": "m", "code": 400}}]), Kind::BadRequest),
        (400, json!({"error": "m"}), Kind::BadRequest),
    ];
    for (status, body, kind) in table {
        let error = OPENAI.parse_error(status, &body.to_string());
        assert_eq!((error.kind, error.message.as_str()), (kind, "m"), "{status} {body}");
    }
}

#[test]
fn an_account_without_credit_is_known_by_its_words_where_there_is_no_code() {
    let body = json!({"error": "Your team has either used all available credits or reached its monthly spending limit."});
    let error = OPENAI.parse_error(429, &body.to_string());
    assert_eq!(error.kind, Kind::Quota);
}

#[test]
fn a_context_that_is_too_long_is_recognised_by_the_message_without_a_code() {
    for message in [
        "This model's maximum context length is 4096 tokens.",
        "the request exceeds the available context size. try increasing it",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    ] {
        let body = json!({"error": {"message": message, "code": 400}}).to_string();
        assert_eq!(OPENAI.parse_error(400, &body).kind, Kind::ContextTooLong, "{message}");
    }
}

#[test]
fn a_body_that_is_not_json_is_quoted_and_truncated() {
    let error = OPENAI.parse_error(502, &"<html>".repeat(1000));
    assert_eq!(error.kind, Kind::Overloaded);
    assert!(error.message.chars().count() <= 501);
    let silent = OPENAI.parse_error(400, "");
    assert_eq!(silent.message, "the vendor answers with status 400");
}

#[test]
fn the_vendor_behind_the_vendor_is_quoted() {
    let body = json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": "bad id"}}});
    let error = OPENAI.parse_error(400, &body.to_string());
    assert_eq!(error.message, "Provider returned error: bad id");
}
