//! Passes that remove keywords a dialect does not support, and the text that describes them instead.

pub(crate) mod annotations;
pub(crate) mod applies_to;
pub(crate) mod describe;
pub(crate) mod unsupported_keywords;
