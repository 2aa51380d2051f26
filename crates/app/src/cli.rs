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

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use toolwright_core::{AppKind, InvokerBuilder, Registry};

mod args;
mod cli_error;
mod commands;
mod help;
mod program;
mod runtime;
#[cfg(feature = "otlp")]
mod telemetry;
mod terminal;

use args::{Cli, Command, GlobalArgs};
use cli_error::CliError;
use commands::{
    chat, check, config, conversations, mcp, new, nodes, prompts, publish, quota, serve, sessions,
    store, tools,
};
use program::Program;
use terminal::{output, sanitize};

use crate::app::AppParts;
use crate::app_command::AppCommand;
use crate::attach_options::ProgramLifetime;
use crate::{App, AppInfo};

/// Runs the command line with every linked tool that is not restricted to an application: the short form of
/// `toolwright::app!().run()`.
pub fn run() -> ExitCode {
    run_app(unnamed_app())
}

/// Runs the command line with every linked tool that admits the application `A`.
pub fn run_for<A: AppKind>() -> ExitCode {
    run_app(unnamed_app().kind::<A>())
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
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder + Send + 'static,
) -> ExitCode {
    run_app(unnamed_app().registry(registry).invoker(setup))
}

fn unnamed_app() -> App {
    let description = "Define a tool once; list it, inspect it, call it.";
    App::new(AppInfo::new("toolwright", env!("CARGO_PKG_VERSION"), description))
}

/// Runs the command line of an app; [`App::run`] calls it.
pub(crate) fn run_app(app: App) -> ExitCode {
    let mut parts = app.into_parts();
    let commands = std::mem::take(&mut parts.commands);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(name) = find_taken_name(&commands) {
        let message = format!("`.command(\"{name}\", …)`: there is a command of this name already");
        return CliError::usage(message).report();
    }
    let matches = match command_line(&parts, &commands).try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) => return print_clap_error(&error, &arguments),
    };
    #[cfg(feature = "otlp")]
    let _telemetry = telemetry::install(&parts.info);
    match run_matches(parts, commands, &matches) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// The command line with the program's name, version, description, tools as examples, and own commands.
fn command_line(parts: &AppParts, commands: &[AppCommand]) -> clap::Command {
    let (info, registry) = (&parts.info, parts.registry.as_ref().ok());
    let call_help = help::call_help(registry);
    let mut command = Cli::command()
        .name(program_name())
        .version(info.version.to_string())
        .after_help(help::root_help(registry))
        .mut_subcommand("tools", |tools| {
            tools.mut_subcommand("call", |call| call.after_help(call_help))
        });
    if !info.description.is_empty() {
        command = command.about(info.description.to_string());
    }
    for own in commands {
        let arguments = clap::Arg::new(OWN_ARGUMENTS)
            .value_name("ARGUMENT")
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true);
        let own = clap::Command::new(own.name.clone()).about(own.about.clone()).arg(arguments);
        command = command.subcommand(own);
    }
    command
}

/// Not part of the stable interface.
#[doc(hidden)]
pub mod __internal {
    use clap::CommandFactory as _;

    /// The command line, without a program's own tools and commands: for completions and manual pages.
    pub fn command_line() -> clap::Command {
        crate::cli::args::Cli::command().name("toolwright").version(env!("CARGO_PKG_VERSION"))
    }
}

/// The name of an own command that Toolwright or another own command has.
fn find_taken_name(commands: &[AppCommand]) -> Option<&str> {
    let cli = Cli::command();
    let mut taken: HashSet<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    // Clap adds it by itself.
    taken.insert("help");
    commands.iter().map(|own| own.name.as_str()).find(|name| !taken.insert(name))
}

/// The name under which clap keeps the arguments of a command of the program's own.
const OWN_ARGUMENTS: &str = "arguments";

/// Prints help, the version or a mistake in the command line.
fn print_clap_error(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    // Help and version are errors to clap, with an exit code of 0.
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    // An error quotes its argument; a terminal must not obey it.
    if arguments.iter().any(|it| it.to_string_lossy().contains(sanitize::is_hidden_char)) {
        output::print_stderr(&error.render().to_string());
        return ExitCode::from(code);
    }
    match error.print() {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    }
}

/// The name this program was started under, for the commands that messages suggest.
fn program_name() -> String {
    let first = std::env::args_os().next().unwrap_or_default();
    match Path::new(&first).file_stem() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "toolwright".to_owned(),
    }
}

/// Runs the program's own command that the command line names, else one of Toolwright's.
fn run_matches(
    parts: AppParts,
    commands: Vec<AppCommand>,
    matches: &ArgMatches,
) -> Result<ExitCode, CliError> {
    if let Some((name, own_matches)) = matches.subcommand()
        && let Some(own) = commands.into_iter().find(|own| own.name == name)
    {
        let program = Program::load(parts, &GlobalArgs::from_arg_matches(matches)?, [])?;
        let arguments = own_matches.get_many::<String>(OWN_ARGUMENTS);
        let arguments: Vec<String> = arguments.unwrap_or_default().cloned().collect();
        return run_own_command(program, own, arguments);
    }
    let options = Cli::from_arg_matches(matches)?;
    let (json, global) = (options.global.json, options.global);
    // Loaded only by the commands that need it: `new` must not fail because of the settings in the current directory.
    let load = |parts| Program::load(parts, &global, []);
    match options.command.unwrap_or_default() {
        Command::Serve(command) => {
            let program = Program::load(parts, &global, command.settings())?;
            serve::execute(command, json, program)
        }
        Command::Chat(command) => {
            let program = Program::load(parts, &global, command.settings())?;
            chat::execute(&command, json, program)
        }
        Command::Tools(command) => tools::execute(command, json, load(parts)?),
        Command::Prompts(command) => prompts::execute(command, json, load(parts)?),
        Command::Conversations(command) => {
            conversations::execute(command, json, &load(parts)?.project)
        }
        Command::Store(command) => store::execute(command, json, &load(parts)?.project),
        Command::Nodes(command) => nodes::execute(command, json, &load(parts)?.project),
        Command::Sessions(command) => sessions::execute(command, json, &load(parts)?.project),
        Command::Quota(command) => quota::execute(command, json, &load(parts)?.project),
        Command::Check(command) => check::execute(&command, json, load(parts)?),
        Command::Mcp { command, search } => mcp::execute(command, search, json, load(parts)?),
        Command::Config(args::ConfigCommand::Show) => {
            config::show_settings(&load(parts)?.project, json)
        }
        Command::New(command) => new::execute(&command),
        Command::Publish(command) => publish::execute(&command, &parts.info),
    }
}

/// Starts the program and runs a command of its own.
fn run_own_command(
    program: Program,
    command: AppCommand,
    arguments: Vec<String>,
) -> Result<ExitCode, CliError> {
    let runtime = runtime::build_runtime()?;
    let outcome = runtime.block_on(async {
        let options = program.attach_options(ProgramLifetime::OneShot, true)?;
        let Program { info, registry, setup, project, .. } = program;
        let app = setup.start(info, registry, &project, options).await?;
        let run = (command.run)(arguments, app);
        run.await.map_err(|error| CliError::failure(cli_error::error_chain(&*error)))
    });
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_command_has_a_name_that_is_not_taken() {
        let commands = |names: &[&str]| {
            let app = names.iter().fold(unnamed_app(), |app, name| {
                app.command(*name, "Reports.", async |_, _| Ok::<_, std::io::Error>(()))
            });
            app.into_parts().commands
        };
        assert_eq!(find_taken_name(&commands(&["report", "sales"])), None);
        assert_eq!(find_taken_name(&commands(&["report", "serve"])), Some("serve"));
        assert_eq!(find_taken_name(&commands(&["help"])), Some("help"));
        assert_eq!(find_taken_name(&commands(&["report", "report"])), Some("report"));
    }
}
