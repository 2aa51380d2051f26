//! Parses error responses and error frames.

use serde_json::value::RawValue;
use toolwright_chat::vendor_errors::{self, VendorError};
use toolwright_chat::{ModelError, ModelErrorKind};

use super::wire::{ErrorBody, Frame, JsonText};
use crate::excerpt::redact_and_truncate;

/// The maximum length of a message, in characters: some servers respond with an HTML page.
const MAX_MESSAGE_CHARS: usize = 500;

/// The maximum length of an excerpt of a frame that is not JSON, in characters.
const MAX_FRAME_EXCERPT_CHARS: usize = 40;

/// Parses the body of an error response.
pub(crate) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let details = error_in_body(body).unwrap_or_default();
    let kind = error_kind(status, &details).unwrap_or(ModelErrorKind::BadRequest);
    let message = details.message.filter(|message| !message.trim().is_empty());
    let message = message.unwrap_or_else(|| match body.trim() {
        "" => format!("the vendor answers with status {status} and no reason"),
        body => format!("status {status}: {body}"),
    });
    ModelError::new(kind, redact_and_truncate(message.trim(), MAX_MESSAGE_CHARS))
}

/// Parses an error frame, or the error of a failed response.
pub(super) fn parse_error_frame(frame: &str, error: Option<&RawValue>) -> ModelError {
    // The details are in the frame itself, or one level down.
    let details = error
        .and_then(|error| parse_error_details(error.get()))
        .or_else(|| parse_error_details(frame));
    let details = details.unwrap_or_default();
    // Codes that the table does not list are about the request, as an image that cannot be decoded.
    let kind = error_kind(0, &details).unwrap_or(match details.code {
        Some(_) => ModelErrorKind::BadRequest,
        // The request was accepted, then the vendor failed.
        None => ModelErrorKind::Overloaded,
    });
    let message = details.message.filter(|message| !message.trim().is_empty());
    let message = message.or(details.code.map(|code| code.0)).map_or_else(
        || "the vendor gave up without a reason".to_owned(),
        |message| redact_and_truncate(message.trim(), MAX_MESSAGE_CHARS),
    );
    ModelError::new(kind, message)
}

/// Describes a frame that is not JSON.
pub(super) fn invalid_json_error(data: &str, error: serde_json::Error) -> ModelError {
    let excerpt = redact_and_truncate(data, MAX_FRAME_EXCERPT_CHARS);
    let message = format!("a frame of the answer cannot be read: `{excerpt}`");
    ModelError::new(ModelErrorKind::Protocol, message).with_source(error)
}

fn error_in_body(body: &str) -> Option<ErrorBody> {
    let frame: Frame<'_> = serde_json::from_str(body).ok()?;
    match frame.error {
        Some(error) => parse_error_details(error.get()),
        None => parse_error_details(body),
    }
}

/// Parses an object with the details, or a message as text.
fn parse_error_details(json: &str) -> Option<ErrorBody> {
    if let Ok(details) = serde_json::from_str::<ErrorBody>(json) {
        let empty = details.message.is_none() && details.code.is_none();
        return (!empty).then_some(details);
    }
    let message = serde_json::from_str::<Option<JsonText>>(json).ok()?.map(|text| text.0);
    Some(ErrorBody { message, ..ErrorBody::default() })
}

fn error_kind(status: u16, details: &ErrorBody) -> Option<ModelErrorKind> {
    vendor_errors::classify(VendorError {
        status,
        codes: &[
            details.code.as_ref().map_or("", |code| &code.0),
            details.kind.as_deref().unwrap_or_default(),
        ],
        message: details.message.as_deref().unwrap_or_default(),
    })
}
