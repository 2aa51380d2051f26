//! The body of an error response, or an error frame in; a [`ModelError`] out.

use serde_json::value::RawValue;
use toolwright_chat::{ModelError, ModelErrorKind};

use super::wire::{Frame, Trouble, as_text};
use crate::excerpt::truncated;
use crate::vendor_errors::{self, Report};

/// The longest message, in characters: some servers answer with a page of HTML.
const LONGEST: usize = 500;

/// The longest part of a frame that is not JSON, in characters.
const LONGEST_FRAME: usize = 40;

/// Reads the body of a response whose status is not success.
pub(crate) fn error(status: u16, body: &str) -> ModelError {
    let trouble = trouble_in(body).unwrap_or_default();
    let kind = kind(status, &trouble).unwrap_or(ModelErrorKind::BadRequest);
    let message = trouble.message.filter(|message| !message.trim().is_empty());
    let message = message.unwrap_or_else(|| match body.trim() {
        "" => format!("the vendor answers with status {status} and no reason"),
        body => format!("status {status}: {body}"),
    });
    ModelError::new(kind, truncated(message.trim(), LONGEST))
}

/// Reads a frame that ends an answer with an error, or the error of a response that failed.
pub(super) fn in_stream(frame: &str, error: Option<&RawValue>) -> ModelError {
    // The details are in the frame itself, or one level down.
    let trouble = error
        .and_then(|error| details(error.get()))
        .or_else(|| details(frame));
    let trouble = trouble.unwrap_or_default();
    // The codes that the table does not list are about the request: a picture that cannot be read, for example.
    let kind = kind(0, &trouble).unwrap_or(match trouble.code {
        Some(_) => ModelErrorKind::BadRequest,
        // The request was accepted, and then something broke.
        None => ModelErrorKind::Overloaded,
    });
    let message = trouble.message.filter(|message| !message.trim().is_empty());
    let message = message.or(trouble.code).map_or_else(
        || "the vendor gave up without a reason".to_owned(),
        |message| truncated(message.trim(), LONGEST),
    );
    ModelError::new(kind, message)
}

/// Describes a frame that is not JSON.
pub(super) fn garbage(data: &str, error: serde_json::Error) -> ModelError {
    let excerpt = truncated(data, LONGEST_FRAME);
    let message = format!("a frame of the answer cannot be read: `{excerpt}`");
    ModelError::new(ModelErrorKind::Protocol, message).with_source(error)
}

fn trouble_in(body: &str) -> Option<Trouble> {
    let frame: Frame<'_> = serde_json::from_str(body).ok()?;
    match frame.error {
        Some(error) => details(error.get()),
        None => details(body),
    }
}

/// Reads an object with the details, or the message alone as text.
fn details(json: &str) -> Option<Trouble> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    if let Ok(trouble) = serde_json::from_str::<Trouble>(json) {
        let empty = trouble.message.is_none() && trouble.code.is_none();
        return (!empty).then_some(trouble);
    }
    Some(Trouble {
        message: as_text(raw),
        ..Trouble::default()
    })
}

fn kind(status: u16, trouble: &Trouble) -> Option<ModelErrorKind> {
    vendor_errors::kind(Report {
        status,
        codes: &[
            trouble.code.as_deref().unwrap_or_default(),
            trouble.kind.as_deref().unwrap_or_default(),
        ],
        message: trouble.message.as_deref().unwrap_or_default(),
    })
}
