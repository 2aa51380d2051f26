//! An interactive session: messages and slash commands, until the end of input.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright_chat::{Chat, TurnRequest};

use super::chat_factory::ChatFactory;
use super::event_printer::EventPrinter;
use super::interrupt::InterruptHandler;
use super::resume::{self, ConversationState};
use super::turn::{TurnOutcome, print_outcome, run_turn};
use super::usage::UsageTotals;
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::terminal::elicitation::TerminalElicitor;
use crate::project::model_selection::SelectedModel;

mod command_handlers;
mod input;
mod line_helper;
mod slash_command;

use input::{InputEvent, LineInput};
use line_helper::LineHelper;
use slash_command::SlashCommand;

/// The state that messages and slash commands change.
struct Session<'a> {
    factory: &'a ChatFactory<'a>,
    runtime: &'a Runtime,
    interrupts: &'a InterruptHandler,
    input: Arc<LineInput>,
    printer: EventPrinter,
    selected_model: SelectedModel,
    chat: Chat,
    conversation_id: String,
    /// Rendered prompts in the role of the assistant, which are sent before the next message.
    pending_assistant_texts: Vec<String>,
    usage: UsageTotals,
}

/// Runs a session until the user leaves.
pub(crate) fn execute(
    factory: &ChatFactory<'_>,
    selected: SelectedModel,
    elicitor: &TerminalElicitor,
    interrupts: &InterruptHandler,
    runtime: &Runtime,
) -> Result<ExitCode, CliError> {
    let input = Arc::new(LineInput::open(
        build_line_helper(factory)?,
        interrupts.clone(),
        factory.project.data_file("history"),
    ));
    elicitor.set_reader(Arc::clone(&input) as _);
    let warning_input = Arc::clone(&input);
    factory.servers.set_warning_handler(move |warning| {
        warning_input.print_above_input(&format!("warning: {warning}"))
    });
    let chat = factory.build_chat(&selected.model, Arc::clone(&input) as _);
    let mut session = Session {
        factory,
        runtime,
        interrupts,
        input,
        printer: EventPrinter::new(),
        selected_model: selected,
        chat,
        conversation_id: factory.conversation_id.clone(),
        pending_assistant_texts: Vec::new(),
        usage: UsageTotals::default(),
    };
    match session.run_loop() {
        // The reader of stdout has ended, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn build_line_helper(factory: &ChatFactory<'_>) -> Result<LineHelper, CliError> {
    let snapshot = factory.invoker.snapshot()?;
    let tools = snapshot.iter().map(|tool| tool.spec().name.to_string());
    let prompts = snapshot.prompts().map(|prompt| prompt.name().to_string());
    let vendors = toolwright_models::vendor_names().into_iter().map(str::to_owned);
    Ok(LineHelper {
        commands: slash_command::command_names(),
        names: tools.chain(prompts).chain(vendors).collect(),
    })
}

impl Session<'_> {
    fn run_loop(&mut self) -> io::Result<()> {
        self.printer.print_header(&self.selected_model, self.factory, &self.chat);
        if self.input.is_terminal() {
            self.printer.print_note("/help says what to type; Ctrl-D leaves");
        }
        self.open_conversation()?;
        let mut interrupted = false;
        loop {
            let line = match self.input.read_event()? {
                InputEvent::EndOfInput => return Ok(()),
                InputEvent::Interrupted if interrupted => return Ok(()),
                InputEvent::Interrupted => {
                    interrupted = true;
                    self.printer.print_note("Ctrl-C again, or Ctrl-D, leaves");
                    continue;
                }
                InputEvent::Text(line) => line,
            };
            interrupted = false;
            if line.trim().is_empty() {
                continue;
            }
            let Some(command) = line.strip_prefix('/') else {
                self.send_message(&line)?;
                continue;
            };
            match SlashCommand::parse(command) {
                Ok(SlashCommand::Quit) => return Ok(()),
                Ok(command) => self.run_command(command)?,
                Err(message) => self.printer.print_error(&message),
            }
        }
    }

    /// Prints which conversation this is, and finishes its last turn if that was interrupted.
    fn open_conversation(&mut self) -> io::Result<()> {
        let conversation = self.conversation_id.clone();
        let acquire = resume::acquire_conversation(self.factory, &conversation, &mut self.printer);
        let (lease, state) = match self.runtime.block_on(acquire) {
            Ok(acquired) => acquired,
            Err(error) => {
                self.printer.print_error(&error_chain(&error));
                return Ok(());
            }
        };
        let store = &self.factory.store;
        match state {
            ConversationState::Empty if store.is_persistent() => {
                let location = store.location();
                self.printer
                    .print_note(&format!("conversation {conversation}, kept in {location}"));
            }
            ConversationState::Empty => self.printer.print_note("this conversation is not kept"),
            ConversationState::Idle => {
                self.printer.print_note(&format!("going on with conversation {conversation}"))
            }
            ConversationState::Interrupted => {
                self.printer.print_note(resume::RESUMING_NOTE);
                return self.run_turn(self.chat.resume(&conversation));
            }
        }
        // Other processes can use the conversation until the next message.
        self.runtime.block_on(lease.release());
        Ok(())
    }

    /// Sends a message. A failed turn is printed; the error is only that of stdout.
    fn send_message(&mut self, message: &str) -> io::Result<()> {
        let mut request = self.chat.message().conversation(&self.conversation_id);
        for text in self.pending_assistant_texts.drain(..) {
            request = request.assistant(text);
        }
        self.run_turn(request.user(message.trim()))
    }

    fn run_turn(&mut self, request: TurnRequest) -> io::Result<()> {
        let request = request.cancel_on(self.interrupts.begin_turn());
        let (printer, usage) = (&mut self.printer, &mut self.usage);
        let mut show = |event: &_| {
            usage.record_event(event);
            printer.print_event(event)
        };
        let outcome = self.runtime.block_on(run_turn(request, &mut show));
        self.interrupts.end_turn();
        self.printer.end_open_line()?;
        print_outcome(&outcome, &mut self.printer);
        match outcome {
            TurnOutcome::OutputFailed(error) => Err(error),
            _ => Ok(()),
        }
    }
}
