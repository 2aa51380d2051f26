//! The program of a command: its app, its settings, and its attached servers.

use std::io::{IsTerminal as _, stderr};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use toolwright_core::{Config, Invoker, Registry};

use crate::AppInfo;
use crate::app::AppParts;
use crate::attach_options::{AttachOptions, ProgramLifetime};
use crate::cli::args::GlobalArgs;
use crate::cli::cli_error::CliError;
use crate::cli::runtime;
use crate::cli::terminal::elicitation::TerminalElicitor;
use crate::cli::terminal::output;
use crate::cli::terminal::sanitize::to_single_line;
use crate::cli::terminal::status_line::{REFRESH_INTERVAL, overwrite_line};
use crate::project::Project;
use crate::remote_servers::RemoteServers;
use crate::setup::{AppSetup, StateMode};

/// An app with its settings loaded.
pub(crate) struct Program {
    pub(crate) info: AppInfo,
    pub(crate) registry: Registry,
    pub(crate) setup: AppSetup,
    pub(crate) project: Project,
    /// Answers the questions of attached servers, where a user is at the terminal.
    pub(crate) elicitor: Arc<TerminalElicitor>,
}

impl Program {
    /// Loads the settings; `flags` are keys and values of the command, each with its flag. Warnings are printed to stderr.
    pub(crate) fn load(
        parts: AppParts,
        global: &GlobalArgs,
        flags: impl IntoIterator<Item = (&'static str, Option<String>, &'static str)>,
    ) -> Result<Self, CliError> {
        let AppParts { info, registry, mut setup, .. } = parts;
        let mut sources = std::mem::take(&mut setup.sources);
        sources.project_dir = global.project_dir.clone();
        sources.config_file = global.config.clone().or(sources.config_file);
        let global_flags = [
            ("model", global.model.clone(), "--model"),
            ("store", global.store.clone(), "--store"),
        ];
        for (key, value, flag) in global_flags.into_iter().chain(flags) {
            sources.flags.extend(value.map(|value| (key.to_owned(), value, flag.to_owned())));
        }
        let project = Project::load(&info.name, sources)?;
        for warning in &project.warnings {
            output::print_stderr(&format!("warning: {warning}\n"));
        }
        Ok(Self { info, registry: registry?, setup, project, elicitor: Arc::default() })
    }

    pub(crate) fn config(&self) -> &Config {
        self.project.config()
    }

    /// How this program attaches servers; with `interactive`, the user at the terminal answers their questions.
    pub(crate) fn attach_options(
        &self,
        lifetime: ProgramLifetime,
        interactive: bool,
    ) -> Result<AttachOptions, CliError> {
        Ok(AttachOptions {
            pins: self.setup.pin_location(&self.project)?,
            shared_state: self.setup.own_shared_state(&self.project),
            serves_people: false,
            lifetime,
            elicitor: interactive.then(|| Arc::clone(&self.elicitor) as _),
            accept_command: accept_command(),
            login_command: format!("{} mcp login", crate::cli::program_name()),
            on_connecting: stderr().is_terminal().then(|| Arc::new(show_connecting) as _),
        })
    }

    /// Runs `work` with an empty [`RemoteServers`], then detaches the servers that it has attached.
    pub(crate) fn with_runtime<T>(
        mut self,
        lifetime: ProgramLifetime,
        interactive: bool,
        work: impl FnOnce(&mut Self, &Runtime, &RemoteServers) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let runtime = runtime::build_runtime()?;
        let options = self.attach_options(lifetime, interactive)?;
        let servers = RemoteServers::new(&self.registry, &self.project, options);
        servers.set_warning_handler(print_warning);
        let output = work(&mut self, &runtime, &servers);
        runtime.block_on(servers.detach());
        // Does not wait for blocking tools that are still running.
        runtime.shutdown_background();
        output
    }

    /// Runs `work` with the servers of the settings attached.
    ///
    /// With `connect` unset they are not connected: the work needs linked tools only.
    pub(crate) fn with_servers<T>(
        self,
        lifetime: ProgramLifetime,
        connect: bool,
        work: impl FnOnce(&mut Self, &Runtime, &RemoteServers) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        // The stdin of a long-running command carries its protocol, not answers of the user.
        let interactive = lifetime == ProgramLifetime::OneShot;
        self.with_runtime(lifetime, interactive, |program, runtime, servers| {
            match connect {
                true => runtime.block_on(servers.attach_all(program.config()))?,
                false => servers.skip_all(program.config())?,
            }
            work(program, runtime, servers)
        })
    }

    /// Runs `work` as [`with_servers`](Self::with_servers) does, with an invoker; warnings about the servers are printed first.
    pub(crate) fn with_invoker<T>(
        self,
        lifetime: ProgramLifetime,
        connect: bool,
        state: StateMode,
        work: impl FnOnce(&Runtime, &RemoteServers, Invoker) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        self.with_servers(lifetime, connect, |program, runtime, servers| {
            servers.warnings().iter().for_each(|warning| print_warning(warning));
            let Self { setup, project, .. } = program;
            let invoker = runtime.block_on(setup.build_invoker(project, servers, state))?;
            work(runtime, servers, invoker)
        })
    }
}

/// The command line that accepts a changed tool, without its name.
pub(crate) fn accept_command() -> String {
    format!("{} mcp accept", crate::cli::program_name())
}

/// Prints a warning to stderr.
pub(crate) fn print_warning(warning: &str) {
    output::print_stderr(&format!("warning: {warning}\n"));
}

/// Shows on a terminal which servers connect, and clears the line at the end.
fn show_connecting(names: &[String], waited: Duration) {
    if waited < REFRESH_INTERVAL {
        return;
    }
    let line = match names {
        [] => String::new(),
        names => format!("connecting to {} ({} s)", names.join(", "), waited.as_secs()),
    };
    overwrite_line(&to_single_line(&line, 100));
}
