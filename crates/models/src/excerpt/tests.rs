//! Keys across the end of an excerpt, in every message that quotes a vendor's text.

use std::sync::Arc;

use serde_json::json;
use toolwright_chat::ModelErrorKind;
use toolwright_core::schema::Dialect;
use toolwright_core::wire::{ToolDefinition, ToolPlan, ToolPlanner};

use super::*;
use crate::protocol::Protocol;
use crate::protocol::anthropic::Anthropic;
use crate::protocol::gemini::Gemini;
use crate::protocol::ollama::Ollama;
use crate::protocol::openai_chat::{OpenAiChat, Quirks};
use crate::protocol::openai_responses::OpenAiResponses;

/// A text that only the key contains.
const KEY_PART: &str = "Q7";

fn key() -> String {
    format!("sk-{}", KEY_PART.repeat(20))
}

fn no_tools() -> Arc<ToolPlan> {
    let none: [&ToolDefinition; 0] = [];
    Arc::new(ToolPlanner::new(Dialect::OPENAI).plan(none))
}

/// Returns the first message that contains a part of the key, whose position in the vendor's text varies.
fn leaked_message(message: impl Fn(&str) -> String) -> Option<String> {
    let near_the_start = (0..600).map(|place| format!("{} {} end", "x".repeat(place), key()));
    // Redaction shortens the first secret, so that text far behind it is shown.
    let limits: [usize; 6] = [40, 200, 256, 300, 500, 800];
    let places = limits.into_iter().flat_map(|limit| limit - 40..limit + 10);
    let places = places.chain([MAX_REDACTED_BYTES - 30, MAX_REDACTED_BYTES - 8]);
    let behind_another = places.map(|place| {
        let token = "y".repeat(place.saturating_sub(8));
        format!("Bearer {token} {} end", key())
    });
    let messages = near_the_start.chain(behind_another);
    let mut messages = messages.map(|text| message(&text));
    messages.find(|message| message.contains(KEY_PART))
}

/// Returns where a protocol leaks a part of a key.
fn leaked_messages(protocol: &dyn Protocol) -> Vec<String> {
    let refused = |body: &str| protocol.parse_error(400, body).message;
    let frame = |data: &str| {
        let mut reader = protocol.parser(no_tools());
        reader.parse_frame("", data).unwrap_err().message
    };
    let found = [
        ("body without JSON", leaked_message(refused)),
        (
            "message in a body",
            leaked_message(|text| refused(&json!({"error": {"message": text}}).to_string())),
        ),
        ("text in a body", leaked_message(|text| refused(&json!({"error": text}).to_string()))),
        (
            "fields in a body that are not known",
            leaked_message(|text| refused(&json!({"error": {"reason": text}}).to_string())),
        ),
        ("frame without JSON", leaked_message(frame)),
        (
            "message in a frame",
            leaked_message(|text| {
                frame(&json!({"type": "error", "error": {"message": text}}).to_string())
            }),
        ),
        (
            "code in a frame",
            leaked_message(|text| {
                let error = json!({"type": text, "code": text, "message": ""});
                frame(&json!({"type": "error", "error": error}).to_string())
            }),
        ),
    ];
    let found = found.into_iter();
    found.filter_map(|(place, leak)| Some(format!("{protocol:?}, {place}: {}", leak?))).collect()
}

#[test]
fn a_key_across_the_end_of_a_truncated_error_is_redacted() {
    let chat = OpenAiChat { vendor: "openai-chat", quirks: Quirks::OPENAI };
    let leaks = [
        leaked_messages(&OpenAiResponses),
        leaked_messages(&chat),
        leaked_messages(&Anthropic),
        leaked_messages(&Gemini),
        leaked_messages(&Ollama),
    ];
    let leaks = leaks.concat();
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[test]
fn the_reason_of_a_blocked_prompt_is_redacted() {
    let frame = json!({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": key()}});
    let error = Gemini.parser(no_tools()).parse_frame("", &frame.to_string()).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::ContentFilter);
    assert!(!error.message.contains(KEY_PART), "{error}");
}

#[test]
fn an_excerpt_is_short() {
    assert!(excerpt(&"é".repeat(10_000)).len() < 220);
    assert!(excerpt(&"é ".repeat(1_000_000)).len() < 220);
    assert_eq!(excerpt(" short "), "short");
    assert_eq!(redact_and_truncate(&"é".repeat(10), 10), "é".repeat(10));
    assert_eq!(redact_and_truncate(&"é".repeat(11), 10), "é".repeat(10) + "…");
}

#[test]
fn a_key_across_the_end_of_an_excerpt_is_redacted() {
    for place in 0..MAX_EXCERPT_BYTES + 50 {
        let text = format!("{} sk-{}", "x".repeat(place), "Q7".repeat(40));
        for shown in [excerpt(&text), redact_and_truncate(&text, MAX_EXCERPT_BYTES)] {
            assert!(!shown.contains("Q7"), "key at {place}: {shown}");
        }
    }
}

#[test]
fn a_secret_across_the_end_of_what_is_searched_is_redacted() {
    for secret in [
        format!("sk-{}", "Q7".repeat(20)),
        format!("Bearer {}", "Q7".repeat(20)),
        format!("https://user:{}@example.com/", "Q7".repeat(20)),
        format!(r#"{{"password":"{}"}}"#, "Q7 ".repeat(20)),
        format!("eyJ{0}.{0}.{0}", "Q7".repeat(10)),
    ] {
        for place in 0..secret.len() {
            let text = format!("{}{secret} end", " ".repeat(MAX_REDACTED_BYTES - place));
            let shown = redact_and_truncate(&text, MAX_REDACTED_BYTES);
            assert!(!shown.contains("Q7"), "cut at {place}: {}", shown.trim());
            let start = excerpt_of_prefix(&text[..MAX_REDACTED_BYTES]);
            assert!(!start.contains("Q7"), "cut at {place}: {start}");
        }
    }
}
