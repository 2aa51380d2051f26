//! Errors inside a stream, and error responses.

use toolwright_chat::ModelErrorKind::{self, *};

use super::super::error::parse_error_body;
use super::events;

#[test]
fn an_error_frame_ends_the_answer_with_the_vendors_words() {
    let cases = [
        (
            r#"{"type":"error","sequence_number":3,"code":"rate_limit_exceeded","message":"Slow down.","param":null}"#,
            RateLimit,
            "Slow down.",
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long.","param":"input"}}"#,
            ContextTooLong,
            "Too long.",
        ),
        (
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":512}}"#,
            ContextTooLong,
            "the request exceeds the available context size",
        ),
        (r#"{"error":"upstream went away"}"#, Overloaded, "upstream went away"),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"No such tool.","code":null}}"#,
            BadRequest,
            "No such tool.",
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"Sorry."}}}"#,
            Overloaded,
            "Sorry.",
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"bio_policy","message":"No."}}}"#,
            ContentFilter,
            "No.",
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"invalid_image","message":"Not a picture."}}}"#,
            BadRequest,
            "Not a picture.",
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#,
            Overloaded,
            "the vendor gave up without a reason",
        ),
    ];
    for (frame, kind, message) in cases {
        let error = events(frame).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{frame}");
    }
}

#[test]
fn an_error_has_the_kind_of_its_status_and_code() {
    let body = |code: &str| {
        format!(
            r#"{{"error":{{"message":"So it is.","type":"invalid_request_error","param":null,"code":{code}}}}}"#
        )
    };
    let cases: [(u16, &str, ModelErrorKind); 12] = [
        (401, "\"invalid_api_key\"", Auth),
        (403, "null", Auth),
        (429, "\"rate_limit_exceeded\"", RateLimit),
        (429, "\"insufficient_quota\"", Quota),
        (400, "\"context_length_exceeded\"", ContextTooLong),
        (400, "\"content_filter\"", ContentFilter),
        (400, "\"invalid_prompt\"", ContentFilter),
        (400, "null", BadRequest),
        (404, "\"model_not_found\"", BadRequest),
        (500, "null", Overloaded),
        (503, "null", Overloaded),
        (529, "17", Overloaded),
    ];
    for (status, code, kind) in cases {
        let error = parse_error_body(status, &body(code));
        assert_eq!((error.kind, error.message.as_str()), (kind, "So it is."), "{status} {code}");
    }
}

#[test]
fn a_body_that_is_no_json_is_shown_as_far_as_it_helps() {
    let page = parse_error_body(502, &format!("<html>{}</html>", "x".repeat(5000)));
    assert_eq!(page.kind, Overloaded);
    assert!(page.message.starts_with("status 502: <html>xxx"));
    assert!(page.message.chars().count() <= 501);
    assert_eq!(
        parse_error_body(500, "").message,
        "the vendor answers with status 500 and no reason"
    );
    assert_eq!(
        parse_error_body(422, r#"{"detail":"nope"}"#).message,
        r#"status 422: {"detail":"nope"}"#
    );
}

#[test]
fn a_key_in_a_message_is_redacted() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwxyz123456","code":"invalid_api_key"}}"#;
    let message = parse_error_body(401, body).message;
    assert!(!message.contains("abcdefghijkl"), "{message}");
}
