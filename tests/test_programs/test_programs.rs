//! The programs that tests start, in one executable: the variable `TEST_PROGRAM` names the one that runs.
//!
//! Each has its own registry: what is linked belongs to all of them.

use std::error::Error;
use std::process::ExitCode;

mod app;
mod cluster;
mod crash;
mod everywhere;
mod kill;
mod nested;
mod orders;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let name = std::env::var("TEST_PROGRAM")?;
    match &*name {
        "app" => app::run(),
        "cluster" => cluster::run(),
        "crash" => crash::run(),
        "everywhere" => everywhere::run(),
        "kill" => kill::run(),
        "nested" => nested::run(),
        other => Err(format!("TEST_PROGRAM: there is no program `{other}`").into()),
    }
}
