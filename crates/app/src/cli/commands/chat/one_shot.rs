//! `chat --once`: sends one message and prints the answer.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;
use tokio::runtime::Runtime;
use toolwright_chat::{Chat, ChatError, ChatEvent, TurnEnd};
use toolwright_server::error_kind;

use super::chat_factory::ChatFactory;
use super::event_printer::EventPrinter;
use super::interrupt::{EXIT_INTERRUPTED, InterruptHandler};
use super::resume::{self, ConversationState};
use super::turn::{TurnOutcome, print_outcome, run_turn};
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::terminal::input::{StdinReader, read_stdin};
use crate::cli::terminal::sanitize;
use crate::project::model_selection::SelectedModel;

/// The format on stdout.
#[derive(Clone, Copy)]
pub(crate) enum OutputFormat {
    /// The text of the answer.
    Text,
    /// All events, one JSON object per line.
    Json {
        /// Include the requests to the model.
        wire: bool,
    },
}

/// The message of `--once`; `-` reads it from stdin.
pub(crate) fn read_message(argument: &str) -> Result<String, CliError> {
    let message = match argument {
        "-" => read_stdin()?,
        message => message.to_owned(),
    };
    match message.trim() {
        "" => Err(CliError::usage("--once: the question is empty")),
        message => Ok(message.to_owned()),
    }
}

pub(crate) fn execute(
    factory: &ChatFactory<'_>,
    selected: &SelectedModel,
    message: String,
    format: OutputFormat,
    interrupts: &InterruptHandler,
    runtime: &Runtime,
) -> Result<ExitCode, CliError> {
    let mut printer = EventPrinter::new();
    let chat = factory.build_chat(&selected.model, Arc::new(StdinReader));
    printer.print_header(selected, factory, &chat);
    if factory.store.is_persistent()
        && finish_interrupted_turn(factory, &chat, format, interrupts, runtime)?
    {
        printer.print_note("cancelled");
        return Ok(ExitCode::from(EXIT_INTERRUPTED));
    }
    let request = chat.message().conversation(&factory.conversation_id);
    let request = request.user(message).cancel_on(interrupts.begin_turn());
    let mut show = |event: &ChatEvent| print_event(event, format, &mut printer);
    let outcome = runtime.block_on(run_turn(request, &mut show));
    if let (OutputFormat::Json { .. }, TurnOutcome::Failed(error)) = (format, &outcome)
        // Its event has been printed.
        && !matches!(error, ChatError::Ended { .. })
    {
        let kind = error_kind(error);
        let message = CliError::failure(error_chain(error)).message();
        // A closed stdout does not matter here: the exit code reports the failure too.
        let _ = print_json_line(&json!({ "type": "error", "message": message, "kind": kind }));
    }
    print_outcome(&outcome, &mut printer);
    match outcome {
        TurnOutcome::Ended(TurnEnd::Cancelled) => Ok(ExitCode::from(EXIT_INTERRUPTED)),
        TurnOutcome::Ended(TurnEnd::Length) | TurnOutcome::Failed(_) => Ok(ExitCode::FAILURE),
        TurnOutcome::Ended(_) => Ok(ExitCode::SUCCESS),
        TurnOutcome::OutputFailed(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        TurnOutcome::OutputFailed(error) => Err(error.into()),
    }
}

/// Finishes the last turn of the conversation if it was interrupted, on stderr; returns true if the user cancelled it.
fn finish_interrupted_turn(
    factory: &ChatFactory<'_>,
    chat: &Chat,
    format: OutputFormat,
    interrupts: &InterruptHandler,
    runtime: &Runtime,
) -> Result<bool, CliError> {
    let mut printer = EventPrinter::stderr_only();
    let id = &factory.conversation_id;
    let acquire = resume::acquire_conversation(factory, id, &mut printer);
    // The lease is not released: the chat acquires it again, and no other process in between.
    let (_lease, state) = runtime.block_on(acquire)?;
    if !matches!(state, ConversationState::Interrupted) {
        return Ok(false);
    }
    printer.print_note(resume::RESUMING_NOTE);
    let request = chat.resume(id).cancel_on(interrupts.begin_turn());
    let mut show = |event: &ChatEvent| print_event(event, format, &mut printer);
    let outcome = runtime.block_on(run_turn(request, &mut show));
    match outcome {
        TurnOutcome::Ended(TurnEnd::Cancelled) => return Ok(true),
        TurnOutcome::Ended(_) => {}
        // The message is sent all the same; its turn reports an error that persists.
        TurnOutcome::Failed(_) => print_outcome(&outcome, &mut printer),
        TurnOutcome::OutputFailed(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        TurnOutcome::OutputFailed(error) => return Err(error.into()),
    }
    Ok(false)
}

fn print_event(
    event: &ChatEvent,
    format: OutputFormat,
    printer: &mut EventPrinter,
) -> io::Result<()> {
    match format {
        OutputFormat::Text => printer.print_event(event),
        OutputFormat::Json { wire: false } if matches!(event, ChatEvent::RequestSent { .. }) => {
            Ok(())
        }
        OutputFormat::Json { .. } => print_json_line(event),
    }
}

fn print_json_line<T: serde::Serialize>(value: &T) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", sanitize::to_safe_json(value))?;
    out.flush()
}
