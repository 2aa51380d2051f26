//! Transports for tests: recorded, replayed and canned responses.

pub(crate) mod canned;
mod json_diff;
pub(crate) mod recorder;
pub(crate) mod recording;
mod redactor;
pub(crate) mod replayer;
