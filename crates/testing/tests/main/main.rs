//! The public API: models for tests, recordings, and canned responses.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod models;
mod recordings;

use toolwright::chat::{Chat, Model};
use toolwright::{Bundle, Invoker, Registry};

fn chat(model: impl Model, tools: impl Bundle) -> Chat {
    let registry = Registry::new();
    registry.add(tools).unwrap();
    Chat::new(&Invoker::new(registry).unwrap(), model)
}
