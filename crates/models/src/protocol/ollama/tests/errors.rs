//! Error responses and their kinds.

use toolwright_chat::ModelErrorKind as Kind;

use crate::protocol::Protocol as _;
use crate::protocol::ollama::Ollama;

#[test]
fn every_status_has_its_kind() {
    for (status, kind) in [
        (400, Kind::BadRequest),
        (401, Kind::Auth),
        (403, Kind::Auth),
        (404, Kind::BadRequest),
        (429, Kind::RateLimit),
        (500, Kind::Overloaded),
        (503, Kind::Overloaded),
    ] {
        let error = Ollama.parse_error(status, r#"{"error":"model 'x' not found"}"#);
        assert_eq!(error.kind, kind, "{status}");
        assert_eq!(error.message, "model 'x' not found");
    }
}

#[test]
fn a_conversation_that_is_too_long_is_distinguished_from_other_errors() {
    for body in [
        r#"{"error":"the prompt is longer than the context length currently available to the model"}"#,
        r#"{"error":{"message":"request (302 tokens) exceeds the available context size (256 tokens)"}}"#,
    ] {
        assert_eq!(Ollama.parse_error(400, body).kind, Kind::ContextTooLong);
    }
}

#[test]
fn a_body_that_is_not_json_is_shown_in_part() {
    let error = Ollama.parse_error(502, "Bad Gateway");
    assert_eq!(error.message, "the request was refused with status 502: Bad Gateway");
    assert_eq!(Ollama.parse_error(500, "").message, "the request was refused with status 500");
}
