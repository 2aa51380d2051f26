//! Every command, as a library: anyone's `main` is one line.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     toolwright::cli::run()
//! }
//! ```
//!
//! Results go to stdout, everything else to stderr. Exit 0: done; 1: a call failed or something is
//! wrong with the tools; 2: the command line itself was wrong.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use toolwright_core::{AppKind, InvokerBuilder, Registry, RegistryError};

mod approve;
mod args;
mod attach;
mod call;
mod chat;
mod check;
mod clean;
mod config;
mod conversations;
mod data;
mod failure;
mod mcp;
mod model;
mod new;
mod print;
mod prompts;
mod serve;
mod store;
#[cfg(feature = "otlp")]
mod telemetry;
mod tools;

use args::{Command, Options};
use config::Surroundings;
use failure::Failure;

/// Runs the command line with every linked tool that is not restricted to an application.
pub fn run() -> ExitCode {
    start(Registry::discover(), |invoker| invoker)
}

/// Runs the command line with every linked tool that admits the application `A`.
pub fn run_for<A: AppKind>() -> ExitCode {
    start(Registry::discover_for::<A>(), |invoker| invoker)
}

/// Runs the command line with the tools of `registry`, and an invoker set up by `setup`.
///
/// ```no_run
/// # struct Shop;
/// # let registry = toolwright::Registry::new();
/// toolwright::cli::run_with(registry, |invoker| invoker.state(Shop));
/// ```
pub fn run_with(
    registry: Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> ExitCode {
    start(Ok(registry), setup)
}

fn start(
    registry: Result<Registry, RegistryError>,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let options = match parse(&arguments) {
        Ok(options) => options,
        Err(error) => {
            // Help and version are errors to clap, with an exit code of 0.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            // An error quotes its argument; a terminal must not obey it.
            if arguments
                .iter()
                .any(|it| it.to_string_lossy().contains(clean::is_hidden))
            {
                print::aside(&error.render().to_string());
                return ExitCode::from(code);
            }
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::FAILURE,
            };
        }
    };
    #[cfg(feature = "otlp")]
    let _telemetry = telemetry::install();
    let done = registry
        .map_err(|error| Failure::finding(&error))
        .and_then(|registry| execute(options, &registry, setup));
    match done {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn parse(arguments: &[OsString]) -> Result<Options, clap::Error> {
    let command = Options::command().name(program());
    Options::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

/// What this program is called, for commands that a message tells to run.
fn program() -> String {
    let first = std::env::args_os().next().unwrap_or_default();
    match Path::new(&first).file_stem() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "toolwright".to_owned(),
    }
}

fn execute(
    options: Options,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    let command = options.command.unwrap_or_default();
    // Read only where needed: a new project must not fail because of the settings where it is made.
    let load = || Surroundings::load(&options.global);
    let json = options.global.json;
    match command {
        Command::Serve(command) => serve::execute(command, json, &load()?, registry, setup),
        Command::Chat(command) => chat::execute(&command, json, &load()?, registry, setup),
        Command::Tools(command) => tools::execute(command, json, &load()?, registry, setup),
        Command::Prompts(command) => prompts::execute(command, json, &load()?, registry, setup),
        Command::Conversations(command) => conversations::execute(command, json, &load()?),
        Command::Check(command) => check::execute(&command, json, &load()?, registry, setup),
        Command::Mcp { command } => mcp::execute(command, json, &load()?, registry, setup),
        Command::Config(args::Settings::Show) => load()?.show(json),
        Command::New {
            directory,
            published,
        } => new::execute(&directory, published),
    }
}
