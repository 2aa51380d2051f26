//! Error responses and their kinds.

use std::time::Duration;

use toolwright_chat::{ModelErrorKind, ModelErrorKind as Kind};

use crate::protocol::Protocol as _;
use crate::protocol::gemini::Gemini;

fn refused(status: u16, body: &str) -> toolwright_chat::ModelError {
    Gemini.parse_error(status, body)
}

#[test]
fn every_status_has_its_kind() {
    let body = r#"{"error":{"code":1,"message":"no","status":"X"}}"#;
    for (status, kind) in [
        (400, Kind::BadRequest),
        (401, Kind::Auth),
        (403, Kind::Auth),
        (404, Kind::BadRequest),
        (429, Kind::RateLimit),
        (500, Kind::Overloaded),
        (503, Kind::Overloaded),
        (504, Kind::Timeout),
        (529, Kind::Overloaded),
    ] {
        let error = refused(status, body);
        assert_eq!((error.kind, error.message.as_str()), (kind, "no"), "{status}");
    }
}

#[test]
fn a_wrong_key_is_distinguished_from_other_invalid_arguments() {
    let body = r#"[{"error":{"code":400,"message":"Check it.","status":"INVALID_ARGUMENT",
        "details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]"#;
    assert_eq!(refused(400, body).kind, ModelErrorKind::Auth);
}

#[test]
fn a_conversation_that_is_too_long_is_distinguished_from_other_invalid_arguments() {
    let body = r#"{"error":{"code":400,"status":"INVALID_ARGUMENT",
        "message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#;
    assert_eq!(refused(400, body).kind, ModelErrorKind::ContextTooLong);
}

#[test]
fn a_quota_of_a_day_is_distinguished_from_one_of_a_minute() {
    let body = |id: &str| {
        format!(
            r#"{{"error":{{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[
            {{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{id}"}}]}}]}}}}"#
        )
    };
    let day = body("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    assert_eq!(refused(429, &day).kind, Kind::Quota);
    let minute = body("GenerateContentInputTokensPerModelPerMinute-FreeTier");
    assert_eq!(refused(429, &minute).kind, Kind::RateLimit);
}

#[test]
fn the_time_to_wait_is_in_the_details() {
    let body = r#"{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure"},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}"#;
    let error = refused(429, body);
    assert_eq!(error.retry_after, Some(Duration::from_millis(1_500)));
}

#[test]
fn a_body_that_is_not_json_is_shown_in_part() {
    let error = refused(502, "<html>Bad Gateway</html>");
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    assert!(error.message.ends_with("status 502: <html>Bad Gateway</html>"), "{error}");
    assert_eq!(refused(500, "").message, "the request was refused with status 500");
}
