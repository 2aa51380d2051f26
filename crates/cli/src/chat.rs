//! `chat`: a person, a model and the tools it may call, in a terminal.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use toolwright_core::{Invoker, InvokerBuilder, Registry};

use crate::attach::{Person, Servers, Stay, pins};
use crate::call;
use crate::config::Surroundings;
use crate::failure::Failure;
use crate::model;
use crate::store::{Kept, Otherwise};

pub(crate) mod command;
mod input;
mod interrupt;
mod once;
pub(crate) mod prices;
mod resume;
mod screen;
mod session;
pub(crate) mod setup;
pub(crate) mod tally;
mod trouble;
mod turn;
mod typing;

use interrupt::Interrupts;
use once::Format;
use setup::Setup;

/// What to ask, whom, and on which terms.
#[derive(clap::Args)]
pub(crate) struct Chat {
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
    command: &Chat,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    let format = match (json, command.wire) {
        (true, wire) => Format::Json { wire },
        (false, false) => Format::Text,
        (false, true) => return Err(Failure::usage("--wire adds to --json: pass both")),
    };
    if json && command.once.is_none() {
        return Err(Failure::usage("--json is for one question: pass --once"));
    }
    let question = command.once.as_deref().map(once::question).transpose()?;
    let config = surroundings.config().clone();
    let chosen = model::choose(&config)?;
    let runtime = call::runtime()?;
    let stay = match question {
        Some(_) => Stay::Short,
        None => Stay::Long,
    };
    let person = Arc::<Person>::default();
    let servers = Servers::new(
        registry,
        pins(surroundings, stay),
        Some(Arc::clone(&person)),
        stay,
    );
    runtime.block_on(setup::attach(&servers, &config, &*chosen.model))?;
    let builder = setup(surroundings.apply(Invoker::builder(registry)));
    let invoker = servers.build(builder, &config)?;
    let otherwise = match (&question, &command.conversation) {
        (Some(_), None) => Otherwise::Memory,
        _ => Otherwise::Data,
    };
    let store = runtime.block_on(Kept::open(&config, otherwise))?;
    let setup = Setup::new(command, config, invoker, store, servers)?;
    let interrupts = Interrupts::watch(&runtime);
    let done = match question {
        Some(question) => once::execute(&setup, &chosen, question, format, &interrupts, &runtime),
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
