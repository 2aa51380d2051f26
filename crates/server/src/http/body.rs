//! Reads request bodies as JSON, with limits on size and time.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::http::error_response::ErrorResponse;
use crate::http::limits::ServerLimits;

/// Reads a body of at most `limits.max_body_bytes`.
pub(crate) async fn read_json<T: DeserializeOwned>(
    limits: &ServerLimits,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, ErrorResponse> {
    read_json_up_to(limits.max_body_bytes, limits, headers, body).await
}

/// Reads a body of at most `max` bytes.
pub(crate) async fn read_json_up_to<T: DeserializeOwned>(
    max: usize,
    limits: &ServerLimits,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, ErrorResponse> {
    // HTML forms cannot send this type, and scripts of other origins only after a preflight request.
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = "send JSON, with `Content-Type: application/json`";
        return Err(ErrorResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", message));
    }
    let body = read_bytes(limits, max, body).await?;
    serde_json::from_slice(&body).map_err(|error| json_error("body", &error))
}

/// The error of JSON of a client that cannot be read; `what` it is stands in the message.
pub(crate) fn json_error(what: &str, error: &serde_json::Error) -> ErrorResponse {
    ErrorResponse::bad_request(format!("the {what}: {}", without_type_name(&error.to_string())))
}

/// What serde names a Rust type with, and what it is in JSON.
const TYPE_NAMES: [(&str, &str); 5] = [
    ("expected struct ", "expected an object"),
    ("expected tuple struct ", "expected an array"),
    ("expected unit struct ", "expected null"),
    ("expected internally tagged enum ", "expected an object"),
    ("expected enum ", "expected a text or an object"),
];

/// Names a value as JSON does, where serde names the Rust type: `expected struct ApprovalToken`.
fn without_type_name(message: &str) -> String {
    TYPE_NAMES.iter().fold(message.to_owned(), |message, (rust, json)| {
        let mut parts = message.split(rust);
        let first = parts.next().unwrap_or_default().to_owned();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        parts.fold(first, |text, rest| text + json + rest.trim_start_matches(is_name))
    })
}

/// Arguments of a call; missing ones are an empty object.
pub(crate) fn arguments_or_empty(given: Value) -> Value {
    match given {
        Value::Null => json!({}),
        arguments => arguments,
    }
}

async fn read_bytes(limits: &ServerLimits, max: usize, body: Body) -> Result<Bytes, ErrorResponse> {
    let Ok(read) = timeout(limits.read_timeout, to_bytes(body, max)).await else {
        let message = format!("the body took more than {} seconds", limits.read_timeout.as_secs());
        return Err(ErrorResponse::new(StatusCode::REQUEST_TIMEOUT, "slow", message));
    };
    read.map_err(|error| {
        let large = std::error::Error::source(&error).is_some_and(|it| it.is::<LengthLimitError>());
        match large {
            true => {
                let message = format!("the body has more than {max} bytes");
                ErrorResponse::new(StatusCode::PAYLOAD_TOO_LARGE, "large", message)
            }
            false => ErrorResponse::bad_request(format!("the body could not be read: {error}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_body_names_no_type_of_this_program() {
        let message = "token: invalid type: string, expected struct ApprovalToken at line 1";
        let shown = "token: invalid type: string, expected an object at line 1";
        assert_eq!(without_type_name(message), shown);
        let twice = without_type_name("expected enum A or expected tuple struct B_2, not 1");
        assert_eq!(twice, "expected a text or an object or expected an array, not 1");
        assert_eq!(without_type_name("missing field `token`"), "missing field `token`");
    }
}
