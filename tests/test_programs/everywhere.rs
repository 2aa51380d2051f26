//! The tools of the MCP tests as a program: `tests/program/everywhere.rs` runs it.

use std::error::Error;
use std::process::ExitCode;

use test_support_mcp::tools::TestTools;
use tokio::sync::mpsc::unbounded_channel;
use toolwright::Registry;

pub(crate) fn run() -> Result<ExitCode, Box<dyn Error>> {
    let registry = Registry::of(TestTools)?;
    let (heard, _listening) = unbounded_channel::<&'static str>();
    Ok(toolwright::cli::run_with(registry, |invoker| invoker.state(heard)))
}
