//! The command line as a library: the `main` of a program is one line.
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

mod args;
mod cli_error;
mod commands;
mod config;
mod remote_servers;
mod runtime;
#[cfg(feature = "otlp")]
mod telemetry;
mod terminal;

use args::{Cli, Command};
use cli_error::CliError;
use commands::{chat, check, conversations, mcp, new, prompts, serve, store, tools};
use config::ProjectConfig;
use terminal::{output, sanitize};

/// Runs the command line with every linked tool that is not restricted to an application.
pub fn run() -> ExitCode {
    run_command_line(Registry::discover(), |invoker| invoker)
}

/// Runs the command line with every linked tool that admits the application `A`.
pub fn run_for<A: AppKind>() -> ExitCode {
    run_command_line(Registry::discover_for::<A>(), |invoker| invoker)
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
    run_command_line(Ok(registry), setup)
}

fn run_command_line(
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
            if arguments.iter().any(|it| it.to_string_lossy().contains(sanitize::is_hidden_char)) {
                output::print_stderr(&error.render().to_string());
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
    let outcome = registry
        .map_err(CliError::from)
        .and_then(|registry| dispatch_command(options, &registry, setup));
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let command = Cli::command().name(program_name());
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

/// The name this program was started under, for the commands that messages suggest.
fn program_name() -> String {
    let first = std::env::args_os().next().unwrap_or_default();
    match Path::new(&first).file_stem() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "toolwright".to_owned(),
    }
}

fn dispatch_command(
    options: Cli,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, CliError> {
    let command = options.command.unwrap_or_default();
    // Loaded only by the commands that need it: `new` must not fail because of the settings in the current directory.
    let load = || ProjectConfig::load(&options.global);
    let json = options.global.json;
    match command {
        Command::Serve(command) => serve::execute(command, json, &load()?, registry, setup),
        Command::Chat(command) => chat::execute(&command, json, &load()?, registry, setup),
        Command::Tools(command) => tools::execute(command, json, &load()?, registry, setup),
        Command::Prompts(command) => prompts::execute(command, json, &load()?, registry, setup),
        Command::Conversations(command) => conversations::execute(command, json, &load()?),
        Command::Store(command) => store::execute(command, json, &load()?),
        Command::Check(command) => check::execute(&command, json, &load()?, registry, setup),
        Command::Mcp { command } => mcp::execute(command, json, &load()?, registry, setup),
        Command::Config(args::ConfigCommand::Show) => load()?.print_settings(json),
        Command::New { directory, published } => new::execute(&directory, published),
    }
}
