//! The demo model as a conversation sees it: real tools, a real invoker, no network.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod bundles;
mod driver;
mod table;

mod conversations;
mod events;
mod forms;
mod hostile;
mod office;
mod questions;
mod searching;
