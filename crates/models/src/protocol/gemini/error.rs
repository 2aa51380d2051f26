//! Parses error responses, and errors inside a stream.

use std::time::Duration;

use toolwright_chat::vendor_errors::{self, VendorError};
use toolwright_chat::{ModelError, ModelErrorKind};

use super::wire::{ErrorBody, ErrorEnvelope};
use crate::excerpt::message_or_status;

/// Parses an error body; a status below 400 is an error inside a stream, which has a status of its own.
pub(super) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let error = error_in_body(body);
    let named = error.status.as_deref().map(http_status_of_grpc);
    let status = match status {
        400.. => status,
        _ => error.code.or(named).unwrap_or(500),
    };
    let message = message_or_status(&error.message, status, body);
    let kind = error_kind(status, &error, &message);
    ModelError::new(kind, message).retry_after(retry_delay(&error))
}

/// The error in a body: an object, or a list of one if the request had no `alt=sse`.
fn error_in_body(body: &str) -> ErrorBody {
    let envelope = serde_json::from_str::<Vec<ErrorEnvelope>>(body)
        .ok()
        .and_then(|list| list.into_iter().next())
        .or_else(|| serde_json::from_str(body).ok());
    envelope.map(|envelope: ErrorEnvelope| envelope.error).unwrap_or_default()
}

fn error_kind(status: u16, error: &ErrorBody, message: &str) -> ModelErrorKind {
    let codes = error.details.iter().flat_map(|detail| {
        let quotas = detail.violations.iter().filter_map(|quota| quota.quota_id.as_deref());
        detail.reason.as_deref().into_iter().chain(quotas)
    });
    let codes: Vec<&str> = codes.chain(error.status.as_deref()).collect();
    let error = VendorError { status, codes: &codes, message };
    vendor_errors::classify(error).unwrap_or(ModelErrorKind::Overloaded)
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

/// The delay that the vendor demands, as `34.07s`.
fn retry_delay(error: &ErrorBody) -> Option<Duration> {
    let mut details = error.details.iter();
    let delay = details.find_map(|detail| detail.retry_delay.as_deref())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
