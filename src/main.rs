//! The sample assistant: its tools linked in, then the command line.

use std::process::ExitCode;

// Named, so that the linker keeps them: discovery finds only what is linked.
use assistant_tools as _;

fn main() -> ExitCode {
    toolwright::app!().name("toolwright").run()
}
