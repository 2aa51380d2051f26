//! Parses error responses, and errors inside a stream.

use serde_json::Value;
use toolwright_chat::vendor_errors::{self, VendorError};
use toolwright_chat::{ModelError, ModelErrorKind};

use crate::excerpt::redact_and_truncate;

/// The maximum length of a message, in characters: some servers respond with an HTML page.
const MAX_MESSAGE_CHARS: usize = 500;

/// Parses the body of an error response.
pub(super) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let value = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
    parse_error_value(status, &value)
}

/// Parses an error of a body or of a stream; the status is 0 in a stream.
pub(super) fn parse_error_value(status: u16, value: &Value) -> ModelError {
    // Google's imitation wraps errors into a list.
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let code = error.get("code");
    let status = match code.and_then(status_code) {
        Some(code) if status == 0 && (400..600).contains(&code) => code,
        _ => status,
    };
    let inner = error.pointer("/innererror/code").and_then(Value::as_str).unwrap_or_default();
    let codes =
        [text("type"), code.and_then(Value::as_str).unwrap_or_default(), text("status"), inner];
    let message = error_message(error);
    let kind = vendor_errors::classify(VendorError { status, codes: &codes, message: &message });
    // In the middle of a response, an error that is not about the request is the server's.
    let kind = kind.unwrap_or(ModelErrorKind::Overloaded);
    let message = if message.is_empty() {
        match status {
            0 => "the vendor reports an error without saying which".to_owned(),
            status => format!("the vendor answers with status {status}"),
        }
    } else {
        message
    };
    ModelError::new(kind, message)
}

fn status_code(code: &Value) -> Option<u16> {
    let number = match code {
        Value::String(digits) => digits.parse().ok()?,
        other => other.as_u64()?,
    };
    u16::try_from(number).ok()
}

/// The vendor's message, whose field has many names.
fn error_message(error: &Value) -> String {
    let message = ["message", "detail", "msg", "error"]
        .iter()
        .filter_map(|name| error.get(name))
        .find(|message| !message.is_null());
    let mut text = match message.unwrap_or(error) {
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    // OpenRouter's own message is only that the vendor behind it failed; this is that vendor's message.
    if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
        text = format!("{text}: {raw}");
    }
    redact_and_truncate(&text, MAX_MESSAGE_CHARS)
}
