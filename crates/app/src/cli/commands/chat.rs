//! `chat`: a conversation with a model that may call tools, in the terminal.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use tokio::runtime::Runtime;

use crate::attach_options::ProgramLifetime;
use crate::cli::cli_error::CliError;
use crate::cli::program::Program;
use crate::project::conversation_store::DefaultStore;
use crate::remote_servers::RemoteServers;
use crate::setup::StateMode;

pub(crate) mod chat_factory;
mod error_advice;
mod event_printer;
mod interrupt;
mod one_shot;
mod resume;
mod session;
mod turn;
pub(crate) mod usage;

use chat_factory::ChatFactory;
use interrupt::InterruptHandler;
use one_shot::OutputFormat;

/// The flags of `chat`.
#[derive(clap::Args)]
pub(crate) struct ChatArgs {
    /// Ask this one question and leave; `-` reads it from stdin
    #[arg(long, value_name = "QUESTION")]
    once: Option<String>,
    /// Go on with a conversation, or begin one under this name; a turn that was interrupted is finished first
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// What the model should keep to [default: the setting `system`]
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Approve every call
    #[arg(long, conflicts_with = "ask")]
    yes: bool,
    /// Ask before each call, whatever the tools say
    #[arg(long)]
    ask: bool,
    /// The most calls of one turn
    #[arg(long, value_name = "N")]
    max_calls: Option<usize>,
    /// With --once --json: also what goes over the wire to the model
    #[arg(long, requires = "once")]
    wire: bool,
}

impl ChatArgs {
    /// The settings that flags override.
    pub(crate) fn settings(&self) -> [(&'static str, Option<String>, &'static str); 1] {
        [("system", self.system.clone(), "--system")]
    }
}

pub(crate) fn execute(
    command: &ChatArgs,
    json: bool,
    program: Program,
) -> Result<ExitCode, CliError> {
    let format = match (json, command.wire) {
        (true, wire) => OutputFormat::Json { wire },
        (false, false) => OutputFormat::Text,
        (false, true) => return Err(CliError::usage("--wire adds to --json: pass both")),
    };
    if json && command.once.is_none() {
        return Err(CliError::usage("--json is for one question: pass --once"));
    }
    let message = command.once.as_deref().map(one_shot::read_message).transpose()?;
    let lifetime = match message {
        Some(_) => ProgramLifetime::OneShot,
        None => ProgramLifetime::LongRunning,
    };
    let default_store = match (&message, &command.conversation) {
        (Some(_), None) => DefaultStore::Memory,
        _ => DefaultStore::UserDataFile,
    };
    let work = |program: &mut Program, runtime: &Runtime, servers: &RemoteServers| {
        let Program { setup, project, elicitor, .. } = program;
        let selected = runtime.block_on(setup.select_model(project.config()))?;
        runtime.block_on(servers.attach_configured(project.config(), &*selected.model))?;
        let invoker = runtime.block_on(setup.build_invoker(project, servers, StateMode::Open))?;
        let store = runtime.block_on(setup.open_store(project, default_store))?;
        let factory = ChatFactory::new(command, project, setup, invoker, store, servers)?;
        let interrupts = InterruptHandler::install(runtime);
        match message {
            Some(message) => {
                one_shot::execute(&factory, &selected, message, format, &interrupts, runtime)
            }
            None => session::execute(&factory, selected, elicitor, &interrupts, runtime),
        }
    };
    program.with_runtime(lifetime, true, work)
}

/// Returns true if stdin and stdout are terminals: a line editor can be used.
fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
