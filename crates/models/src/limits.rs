//! How much of an answer is read: whoever answers is not trusted to stop.

use toolwright_chat::{ModelError, ModelErrorKind};

/// The longest frame, in bytes.
pub(crate) const MAX_FRAME_BYTES: usize = 16 << 20;

/// The longest answer, in bytes.
pub(crate) const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// The longest body of a refusal that is read, in bytes.
pub(crate) const MAX_ERROR_BODY_BYTES: usize = 64 << 10;

/// The most calls of one answer.
pub(crate) const MAX_CALLS: usize = 1_024;

/// The most items of one answer.
pub(crate) const MAX_ITEMS: usize = 16_384;

/// The most labels that one call is remembered by.
pub(crate) const MAX_INDEXES_PER_CALL: usize = 64;

/// The longest name of the vendor's that ids are made of: each call gets one, so a long name would come back a thousand times.
pub(crate) const MAX_ID_SEED_BYTES: usize = 128;

pub(crate) fn frame_too_long() -> ModelError {
    protocol_error(format!("a frame is longer than {MAX_FRAME_BYTES} bytes"))
}

pub(crate) fn response_too_long() -> ModelError {
    protocol_error(format!(
        "the answer is longer than {MAX_RESPONSE_BYTES} bytes"
    ))
}

pub(crate) fn too_many_calls() -> ModelError {
    protocol_error(format!("the answer has more than {MAX_CALLS} calls"))
}

pub(crate) fn too_many_items() -> ModelError {
    protocol_error(format!("the answer has more than {MAX_ITEMS} items"))
}

fn protocol_error(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
