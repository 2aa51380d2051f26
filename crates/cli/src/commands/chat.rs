//! `chat`: a conversation with a model that may call tools, in the terminal.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright_core::{InvokerBuilder, Registry};

use crate::cli_error::CliError;
use crate::config::ProjectConfig;
use crate::config::conversation_store::{ConversationStore, DefaultStore};
use crate::config::model_selection;
use crate::remote_servers::{self, CommandLifetime, RemoteServers, TerminalElicitor};

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

pub(crate) fn execute(
    command: &ChatArgs,
    json: bool,
    project: &ProjectConfig,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
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
    let config = project.config().clone();
    let selected = model_selection::select_model(&config)?;
    let lifetime = match message {
        Some(_) => CommandLifetime::OneShot,
        None => CommandLifetime::LongRunning,
    };
    let default_store = match (&message, &command.conversation) {
        (Some(_), None) => DefaultStore::Memory,
        _ => DefaultStore::UserDataFile,
    };
    let elicitor = Arc::<TerminalElicitor>::default();
    let work = |runtime: &Runtime, servers: &RemoteServers| {
        runtime.block_on(servers.attach_configured(&config, &*selected.model))?;
        let invoker = servers.build_invoker(project, setup)?;
        let store = runtime.block_on(ConversationStore::open(&config, default_store))?;
        let factory = ChatFactory::new(command, config, invoker, store, servers)?;
        let interrupts = InterruptHandler::install(runtime);
        match message {
            Some(message) => {
                one_shot::execute(&factory, &selected, message, format, &interrupts, runtime)
            }
            None => session::execute(&factory, selected, &elicitor, &interrupts, runtime),
        }
    };
    let elicitor = Some(Arc::clone(&elicitor));
    remote_servers::with_runtime(project, registry, lifetime, elicitor, work)
}

/// Returns true if stdin and stdout are terminals: a line editor can be used.
fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
