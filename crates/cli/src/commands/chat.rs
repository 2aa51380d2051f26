//! `chat`: a person, a model and the tools it may call, in a terminal.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use toolwright_core::{Invoker, InvokerBuilder, Registry};

use crate::cli_error::CliError;
use crate::config::ProjectConfig;
use crate::config::conversation_store::{ConversationStore, DefaultStore};
use crate::config::model_selection;
use crate::remote_servers::{CommandLifetime, RemoteServers, TerminalElicitor, open_pins};
use crate::runtime;

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

/// What to ask, whom, and on which terms.
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
    surroundings: &ProjectConfig,
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
    let question = command
        .once
        .as_deref()
        .map(one_shot::read_message)
        .transpose()?;
    let config = surroundings.config().clone();
    let chosen = model_selection::select_model(&config)?;
    let runtime = runtime::build_runtime()?;
    let stay = match question {
        Some(_) => CommandLifetime::OneShot,
        None => CommandLifetime::LongRunning,
    };
    let person = Arc::<TerminalElicitor>::default();
    let servers = RemoteServers::new(
        registry,
        open_pins(surroundings, stay),
        Some(Arc::clone(&person)),
        stay,
    );
    runtime.block_on(chat_factory::attach_configured_servers(
        &servers,
        &config,
        &*chosen.model,
    ))?;
    let builder = setup(surroundings.configure_invoker(Invoker::builder(registry)));
    let invoker = servers.build_invoker(builder, &config)?;
    let otherwise = match (&question, &command.conversation) {
        (Some(_), None) => DefaultStore::Memory,
        _ => DefaultStore::UserDataFile,
    };
    let store = runtime.block_on(ConversationStore::open(&config, otherwise))?;
    let setup = ChatFactory::new(command, config, invoker, store, servers)?;
    let interrupts = InterruptHandler::install(&runtime);
    let done = match question {
        Some(question) => {
            one_shot::execute(&setup, &chosen, question, format, &interrupts, &runtime)
        }
        None => session::execute(&setup, chosen, &person, &interrupts, &runtime),
    };
    runtime.block_on(setup.servers.detach());
    // A blocking tool that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    done
}

/// Whether a person types and reads here.
fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
