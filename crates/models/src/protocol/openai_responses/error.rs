//! The body of an error response, or an error frame in; a [`ModelError`] out.

use serde_json::value::RawValue;
use toolwright_chat::{ModelError, ModelErrorKind};

use super::wire::{ErrorBody, Frame, text_or_json};
use crate::excerpt::redact_and_truncate;
use crate::protocol::vendor_errors::{self, VendorError};

/// The longest message, in characters: some servers answer with a page of HTML.
const MAX_MESSAGE_CHARS: usize = 500;

/// The longest part of a frame that is not JSON, in characters.
const MAX_FRAME_EXCERPT_CHARS: usize = 40;

/// Reads the body of a response whose status is not success.
pub(crate) fn parse_error_body(status: u16, body: &str) -> ModelError {
    let trouble = error_in_body(body).unwrap_or_default();
    let kind = error_kind(status, &trouble).unwrap_or(ModelErrorKind::BadRequest);
    let message = trouble.message.filter(|message| !message.trim().is_empty());
    let message = message.unwrap_or_else(|| match body.trim() {
        "" => format!("the vendor answers with status {status} and no reason"),
        body => format!("status {status}: {body}"),
    });
    ModelError::new(kind, redact_and_truncate(message.trim(), MAX_MESSAGE_CHARS))
}

/// Reads a frame that ends an answer with an error, or the error of a response that failed.
pub(super) fn parse_error_frame(frame: &str, error: Option<&RawValue>) -> ModelError {
    // The details are in the frame itself, or one level down.
    let trouble = error
        .and_then(|error| parse_error_details(error.get()))
        .or_else(|| parse_error_details(frame));
    let trouble = trouble.unwrap_or_default();
    // The codes that the table does not list are about the request: a picture that cannot be read, for example.
    let kind = error_kind(0, &trouble).unwrap_or(match trouble.code {
        Some(_) => ModelErrorKind::BadRequest,
        // The request was accepted, and then something broke.
        None => ModelErrorKind::Overloaded,
    });
    let message = trouble.message.filter(|message| !message.trim().is_empty());
    let message = message.or(trouble.code).map_or_else(
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

/// Reads an object with the details, or the message alone as text.
fn parse_error_details(json: &str) -> Option<ErrorBody> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    if let Ok(trouble) = serde_json::from_str::<ErrorBody>(json) {
        let empty = trouble.message.is_none() && trouble.code.is_none();
        return (!empty).then_some(trouble);
    }
    Some(ErrorBody {
        message: text_or_json(raw),
        ..ErrorBody::default()
    })
}

fn error_kind(status: u16, trouble: &ErrorBody) -> Option<ModelErrorKind> {
    vendor_errors::classify(VendorError {
        status,
        codes: &[
            trouble.code.as_deref().unwrap_or_default(),
            trouble.kind.as_deref().unwrap_or_default(),
        ],
        message: trouble.message.as_deref().unwrap_or_default(),
    })
}
