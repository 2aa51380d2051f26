//! The program in a terminal: text is typed once the terminal shows what a step waits for.

use std::process::Command;

use serde_json::Value;
use test_support::CommandOutput;

/// Runs the program in a terminal, with steps in the format of `terminal.py`. `python` runs Python in the environment of the
/// program.
pub(crate) fn run_in_terminal(
    mut python: Command,
    steps: &Value,
    arguments: &[&str],
) -> CommandOutput {
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/terminal.py");
    python.arg(driver).arg(steps.to_string());
    python.arg(env!("CARGO_BIN_EXE_toolwright")).args(arguments);
    let shown = CommandOutput::from(python.output().unwrap());
    assert_ne!(shown.code, Some(99), "never shown: {}", shown.out);
    shown
}
