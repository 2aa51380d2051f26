//! The bundle of the MCP tests as a program: `tests/everywhere.rs` runs it.

#![allow(dead_code, reason = "the tests use more of the bundle's file")]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a program of a test")]

use std::process::ExitCode;

use tokio::sync::mpsc::unbounded_channel;
use toolwright::Registry;

#[path = "../../crates/mcp/tests/main/tools.rs"]
mod tools;

fn main() -> ExitCode {
    let registry = Registry::new();
    registry.add(tools::all()).unwrap();
    let (heard, _listening) = unbounded_channel::<&'static str>();
    toolwright::cli::run_with(registry, |invoker| invoker.state(heard))
}
