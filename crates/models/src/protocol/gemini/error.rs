//! The body of an error response, or an error inside a stream in; a [`ModelError`] out.

use std::time::Duration;

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;

use super::wire::{ErrorBody, ErrorEnvelope};
use crate::excerpt::describe_error_status;
use crate::protocol::vendor_errors::{self, VendorError};

/// Reads the body of an error response; a status below 400 is an error inside a stream, which names its own.
pub(super) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let trouble = error_in_body(body);
    let named = trouble.status.as_deref().map(http_status_of_grpc);
    let status = match status {
        400.. => status,
        _ => trouble.code.or(named).unwrap_or(500),
    };
    let message = match &trouble.message {
        Some(message) if !message.trim().is_empty() => redact(message).into_owned(),
        _ => describe_error_status(status, body),
    };
    let kind = error_kind(status, &trouble, &message);
    ModelError::new(kind, message).retry_after(retry_delay(&trouble))
}

/// The error of a body: alone, or in a list of one as without `alt=sse`.
fn error_in_body(body: &str) -> ErrorBody {
    let refusal = serde_json::from_str::<Vec<ErrorEnvelope>>(body)
        .ok()
        .and_then(|list| list.into_iter().next())
        .or_else(|| serde_json::from_str(body).ok());
    refusal
        .and_then(|refusal: ErrorEnvelope| refusal.error)
        .unwrap_or_default()
}

fn error_kind(status: u16, trouble: &ErrorBody, message: &str) -> ModelErrorKind {
    let details = trouble.details.iter().flatten();
    let codes = details.flat_map(|detail| {
        let quotas = detail.violations.iter().flatten();
        let quotas = quotas.filter_map(|quota| quota.quota_id.as_deref());
        detail.reason.as_deref().into_iter().chain(quotas)
    });
    let codes: Vec<&str> = codes.chain(trouble.status.as_deref()).collect();
    let report = VendorError {
        status,
        codes: &codes,
        message,
    };
    vendor_errors::classify(report).unwrap_or(ModelErrorKind::Overloaded)
}

/// Returns the HTTP status of a gRPC status, for an error inside a stream that has only its name.
fn http_status_of_grpc(status: &str) -> u16 {
    match status {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "RESOURCE_EXHAUSTED" => 429,
        "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    }
}

/// How long to wait, as in `34.07s`.
fn retry_delay(trouble: &ErrorBody) -> Option<Duration> {
    let mut details = trouble.details.iter().flatten();
    let delay = details.find_map(|detail| detail.retry_delay.as_deref())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
