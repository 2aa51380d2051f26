//! The client against servers that are real, scripted, or hostile.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[path = "../../../../tests/support/real.rs"]
mod installed;
mod scene;
mod scripted;
mod site;

mod calls;
mod hostile;
mod hostile_program;
mod life;
mod names;
mod npm;
mod real;
mod trust;
