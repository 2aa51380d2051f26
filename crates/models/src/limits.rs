//! Limits on the size of a response: a server is not trusted to end one.

use toolwright_chat::{ModelError, ModelErrorKind};

/// The maximum length of a frame, in bytes.
pub(crate) const MAX_FRAME_BYTES: usize = 16 << 20;

/// The maximum length of a response, in bytes.
pub(crate) const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// The maximum length of an error response that is read, in bytes.
pub(crate) const MAX_ERROR_BODY_BYTES: usize = 64 << 10;

/// The maximum number of calls in one response.
pub(crate) const MAX_CALLS: usize = 1_024;

/// The maximum number of items in one response.
pub(crate) const MAX_ITEMS: usize = 16_384;

/// The maximum number of indexes under which the deltas of one call may come.
pub(crate) const MAX_INDEXES_PER_CALL: usize = 64;

/// The maximum length of a vendor's text that call ids are derived from, in bytes: each call's id contains it.
pub(crate) const MAX_ID_SEED_BYTES: usize = 128;

pub(crate) fn frame_too_long() -> ModelError {
    protocol_error(format!("a frame is longer than {MAX_FRAME_BYTES} bytes"))
}

pub(crate) fn response_too_long() -> ModelError {
    protocol_error(format!("the answer is longer than {MAX_RESPONSE_BYTES} bytes"))
}

pub(crate) fn too_many_calls() -> ModelError {
    protocol_error(format!("the answer has more than {MAX_CALLS} calls"))
}

pub(crate) fn too_many_items() -> ModelError {
    protocol_error(format!("the answer has more than {MAX_ITEMS} items"))
}

/// The response ended before its last frame.
pub(crate) fn response_cut_off() -> ModelError {
    protocol_error("the answer was cut off")
}

pub(crate) fn protocol_error(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
