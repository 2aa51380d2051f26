//! `chat` as a person knows it: question, answer, question, and commands in between.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright_chat::{Chat, TurnEnd, TurnRequest};

use super::chat_factory::ChatFactory;
use super::error_advice;
use super::event_printer::EventPrinter;
use super::interrupt::InterruptHandler;
use super::resume::{self, ConversationState};
use super::turn::{TurnOutcome, run_turn};
use super::usage::UsageTotals;
use crate::cli_error::{CliError, error_chain};
use crate::config::model_selection::{self, SelectedModel};
use crate::remote_servers::TerminalElicitor;

mod command_handlers;
mod input;
mod line_helper;
mod slash_command;

use input::{InputEvent, LineInput};
use line_helper::LineHelper;
use slash_command::SlashCommand;

/// A conversation under way, and what its commands change.
struct Session<'a> {
    setup: &'a ChatFactory,
    runtime: &'a Runtime,
    interrupts: &'a InterruptHandler,
    input: Arc<LineInput>,
    printer: EventPrinter,
    selected_model: SelectedModel,
    chat: Chat,
    conversation_id: String,
    /// Words to put into the model's mouth before the next question.
    pending_assistant_texts: Vec<String>,
    usage: UsageTotals,
}

/// Talks until somebody leaves.
pub(crate) fn execute(
    setup: &ChatFactory,
    chosen: SelectedModel,
    person: &TerminalElicitor,
    interrupts: &InterruptHandler,
    runtime: &Runtime,
) -> Result<ExitCode, CliError> {
    let input = Arc::new(LineInput::open(
        build_line_helper(setup)?,
        interrupts.clone(),
    ));
    person.set_reader(Arc::clone(&input) as _);
    let shown = Arc::clone(&input);
    setup.servers.set_warning_handler(move |warning| {
        shown.print_above_input(&format!("warning: {warning}"))
    });
    let chat = setup.build_chat(&chosen.model, Arc::clone(&input) as _);
    let mut session = Session {
        setup,
        runtime,
        interrupts,
        input,
        printer: EventPrinter::new(),
        selected_model: chosen,
        chat,
        conversation_id: setup.conversation_id.clone(),
        pending_assistant_texts: Vec::new(),
        usage: UsageTotals::default(),
    };
    match session.run_loop() {
        // Whoever read has gone, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(CliError::from_error(&error)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn build_line_helper(setup: &ChatFactory) -> Result<LineHelper, CliError> {
    let snapshot = setup.invoker.snapshot();
    let snapshot = snapshot.map_err(|error| CliError::from_error(&error))?;
    let tools = snapshot.iter().map(|tool| tool.spec().name.to_string());
    let prompts = snapshot.prompts().map(|prompt| prompt.name().to_string());
    let vendors = model_selection::vendor_names().map(str::to_owned);
    Ok(LineHelper {
        commands: slash_command::command_names(),
        names: tools.chain(prompts).chain(vendors).collect(),
    })
}

impl Session<'_> {
    fn run_loop(&mut self) -> io::Result<()> {
        self.printer
            .print_header(&self.selected_model, self.setup, &self.chat);
        if self.input.is_terminal() {
            self.printer
                .print_note("/help says what to type; Ctrl-D leaves");
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
                Err(wrong) => self.printer.print_error(&wrong),
            }
        }
    }

    /// Says which conversation this is, and finishes its last turn if that was interrupted.
    fn open_conversation(&mut self) -> io::Result<()> {
        let conversation = self.conversation_id.clone();
        let screen = &mut self.printer;
        let mut busy =
            || screen.print_note("another process has this conversation: waiting for it");
        let taking = resume::acquire_conversation(self.setup, &conversation, &mut busy);
        let standing = match self.runtime.block_on(taking) {
            Ok(standing) => standing,
            Err(error) => {
                self.printer.print_error(&error_chain(&error));
                return Ok(());
            }
        };
        let kept = &self.setup.store;
        match standing {
            ConversationState::Empty if kept.is_persistent() => {
                let place = kept.location();
                self.printer
                    .print_note(&format!("conversation {conversation}, kept in {place}"));
            }
            ConversationState::Empty => self.printer.print_note("this conversation is not kept"),
            ConversationState::Idle => self
                .printer
                .print_note(&format!("going on with conversation {conversation}")),
            ConversationState::Interrupted => {
                self.printer.print_note(resume::RESUMING_NOTE);
                let ask = self.chat.resume(&conversation);
                return self.run_turn(ask);
            }
        }
        let given_back = resume::release_conversation(self.setup, &conversation);
        if let Err(error) = self.runtime.block_on(given_back) {
            self.printer.print_error(&error_chain(&error));
        }
        Ok(())
    }

    /// Asks a question; whatever comes of it, the session goes on.
    fn send_message(&mut self, question: &str) -> io::Result<()> {
        let mut ask = self.chat.message().conversation(&self.conversation_id);
        for words in self.pending_assistant_texts.drain(..) {
            ask = ask.assistant(words);
        }
        self.run_turn(ask.user(question.trim()))
    }

    fn run_turn(&mut self, ask: TurnRequest) -> io::Result<()> {
        let ask = ask.cancel_on(self.interrupts.begin_turn());
        let (screen, tally) = (&mut self.printer, &mut self.usage);
        let mut show = |event: &_| {
            tally.record_event(event);
            screen.print_event(event)
        };
        let over = self.runtime.block_on(run_turn(ask, &mut show));
        self.interrupts.end_turn();
        self.printer.end_open_line()?;
        match over {
            TurnOutcome::Ended(TurnEnd::Cancelled) => self.printer.print_note("cancelled"),
            TurnOutcome::Ended(TurnEnd::Length) => {
                let cut = "the answer is cut off: the model reached the most tokens of an answer";
                self.printer.print_error(cut);
            }
            TurnOutcome::Ended(_) => {}
            TurnOutcome::Failed(error) => self
                .printer
                .print_error(&error_advice::describe_error(&error)),
            TurnOutcome::OutputFailed(error) => return Err(error),
        }
        Ok(())
    }
}
