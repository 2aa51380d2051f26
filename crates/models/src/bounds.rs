//! How much of an answer is read: whoever answers is not trusted to stop.

use toolwright_chat::{ModelError, ModelErrorKind};

/// The longest frame, in bytes.
pub(crate) const LONGEST_FRAME: usize = 16 << 20;

/// The longest answer, in bytes.
pub(crate) const LONGEST_ANSWER: usize = 32 << 20;

/// The longest body of a refusal that is read, in bytes.
pub(crate) const LONGEST_REFUSAL: usize = 64 << 10;

/// The most calls of one answer.
pub(crate) const MOST_CALLS: usize = 1_024;

/// The most items of one answer.
pub(crate) const MOST_ITEMS: usize = 16_384;

/// The most labels that one call is remembered by.
pub(crate) const MOST_LABELS: usize = 64;

/// The longest name of the vendor's that ids are made of: each call gets one, so a long name would come back a thousand times.
pub(crate) const LONGEST_SEED: usize = 128;

pub(crate) fn frame_too_long() -> ModelError {
    broken(format!("a frame is longer than {LONGEST_FRAME} bytes"))
}

pub(crate) fn answer_too_long() -> ModelError {
    broken(format!("the answer is longer than {LONGEST_ANSWER} bytes"))
}

pub(crate) fn too_many_calls() -> ModelError {
    broken(format!("the answer has more than {MOST_CALLS} calls"))
}

pub(crate) fn too_many_items() -> ModelError {
    broken(format!("the answer has more than {MOST_ITEMS} items"))
}

fn broken(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
