//! The client against servers that are real, scripted, or hostile.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod http_server;
#[path = "../../../../tests/support/real.rs"]
mod installed;
mod scripted;
mod support;

mod calls;
mod hostile;
mod hostile_program;
mod lifecycle;
mod names;
mod npm;
mod real;
mod trust;
