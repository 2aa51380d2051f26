//! The body of a request in, a value out: not too large, not too slow, and JSON.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::limits::Limits;
use crate::problem::Problem;

/// Reads a value.
pub(crate) async fn read<T: DeserializeOwned>(
    limits: &Limits,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Problem> {
    read_at_most(limits.body, limits, headers, body).await
}

/// Reads a value of at most so many bytes.
pub(super) async fn read_at_most<T: DeserializeOwned>(
    most: usize,
    limits: &Limits,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Problem> {
    // A form on some page cannot say this, and a browser asks first before a script may.
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = "send JSON, with `Content-Type: application/json`";
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "media_type",
            message,
        ));
    }
    let body = bytes(limits, most, body).await?;
    serde_json::from_slice(&body).map_err(|error| Problem::invalid(format!("the body: {error}")))
}

/// Reads arguments; none at all are an empty object.
pub(super) fn arguments(given: Value) -> Value {
    match given {
        Value::Null => json!({}),
        arguments => arguments,
    }
}

async fn bytes(limits: &Limits, most: usize, body: Body) -> Result<Bytes, Problem> {
    let Ok(read) = timeout(limits.arrival, to_bytes(body, most)).await else {
        let message = format!(
            "the body took more than {} seconds",
            limits.arrival.as_secs()
        );
        return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", message));
    };
    read.map_err(|error| {
        let large = std::error::Error::source(&error).is_some_and(|it| it.is::<LengthLimitError>());
        match large {
            true => {
                let message = format!("the body has more than {most} bytes");
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "large", message)
            }
            false => Problem::invalid(format!("the body could not be read: {error}")),
        }
    })
}
