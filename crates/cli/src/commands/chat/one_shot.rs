//! `chat --once`: one question in, its answer out.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;
use tokio::runtime::Runtime;
use toolwright_chat::{Chat, ChatError, ChatEvent, TurnEnd};

use super::chat_factory::ChatFactory;
use super::error_advice;
use super::event_printer::EventPrinter;
use super::interrupt::{EXIT_INTERRUPTED, InterruptHandler};
use super::resume::{self, ConversationState};
use super::turn::{TurnOutcome, run_turn};
use crate::cli_error::CliError;
use crate::config::model_selection::SelectedModel;
use crate::terminal::approval::StdinReader;
use crate::terminal::sanitize;

/// How much is read from stdin before it is certainly too much.
const MAX_STDIN_BYTES: u64 = 16 << 20;

/// What is printed on stdout.
#[derive(Clone, Copy)]
pub(crate) enum OutputFormat {
    /// The answer.
    Text,
    /// Everything that happens, an object per line.
    Json {
        /// What goes over the wire to the model, too.
        wire: bool,
    },
}

/// The question as it was written, or from stdin.
pub(crate) fn read_message(written: &str) -> Result<String, CliError> {
    let mut question = written.to_owned();
    if written == "-" {
        question.clear();
        let read = io::stdin()
            .take(MAX_STDIN_BYTES)
            .read_to_string(&mut question);
        read.map_err(|error| CliError::usage(format!("stdin: {error}")))?;
    }
    match question.trim() {
        "" => Err(CliError::usage("--once: the question is empty")),
        asked => Ok(asked.to_owned()),
    }
}

/// Asks it.
pub(crate) fn execute(
    setup: &ChatFactory,
    chosen: &SelectedModel,
    question: String,
    format: OutputFormat,
    interrupts: &InterruptHandler,
    runtime: &Runtime,
) -> Result<ExitCode, CliError> {
    let mut screen = EventPrinter::new();
    let chat = setup.build_chat(&chosen.model, Arc::new(StdinReader));
    screen.print_header(chosen, setup, &chat);
    if setup.store.is_persistent()
        && finish_interrupted_turn(setup, &chat, format, interrupts, runtime)?
    {
        screen.print_note("cancelled");
        return Ok(ExitCode::from(EXIT_INTERRUPTED));
    }
    let ask = chat.message().conversation(&setup.conversation_id);
    let ask = ask.user(question).cancel_on(interrupts.begin_turn());
    let mut show = |event: &ChatEvent| print_event(event, format, &mut screen);
    let over = runtime.block_on(run_turn(ask, &mut show));
    match over {
        TurnOutcome::Ended(TurnEnd::Cancelled) => {
            screen.print_note("cancelled");
            Ok(ExitCode::from(EXIT_INTERRUPTED))
        }
        TurnOutcome::Ended(TurnEnd::Length) => {
            screen.print_error(
                "the answer is cut off: the model reached the most tokens of an answer",
            );
            Ok(ExitCode::FAILURE)
        }
        TurnOutcome::Ended(_) => Ok(ExitCode::SUCCESS),
        TurnOutcome::Failed(error) => {
            let told = !matches!(error, ChatError::Ended { .. });
            if let (OutputFormat::Json { .. }, true) = (format, told) {
                let message = CliError::from_error(&error).message();
                let kind = error_advice::kind(&error);
                // Whoever read it may have gone; the exit code says it too.
                let _ =
                    print_json_line(&json!({ "type": "error", "message": message, "kind": kind }));
            }
            screen.print_error(&error_advice::describe_error(&error));
            Ok(ExitCode::FAILURE)
        }
        TurnOutcome::OutputFailed(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        TurnOutcome::OutputFailed(error) => Err(CliError::from_error(&error)),
    }
}

/// Finishes the conversation's last turn if that was interrupted, aside from the answer; tells whether it was cancelled.
fn finish_interrupted_turn(
    setup: &ChatFactory,
    chat: &Chat,
    format: OutputFormat,
    interrupts: &InterruptHandler,
    runtime: &Runtime,
) -> Result<bool, CliError> {
    let mut screen = EventPrinter::stderr_only();
    let mut busy = || screen.print_note("another process has this conversation: waiting for it");
    let standing = runtime.block_on(resume::acquire_conversation(
        setup,
        &setup.conversation_id,
        &mut busy,
    ));
    let standing = standing.map_err(|error| CliError::from_error(&error))?;
    if !matches!(standing, ConversationState::Interrupted) {
        return Ok(false);
    }
    screen.print_note(resume::RESUMING_NOTE);
    let ask = chat.resume(&setup.conversation_id);
    let ask = ask.cancel_on(interrupts.begin_turn());
    let mut show = |event: &ChatEvent| print_event(event, format, &mut screen);
    let over = runtime.block_on(run_turn(ask, &mut show));
    match over {
        TurnOutcome::Ended(TurnEnd::Cancelled) => return Ok(true),
        TurnOutcome::Ended(_) => {}
        // The question is asked all the same: what is wrong now, its answer says.
        TurnOutcome::Failed(error) => screen.print_error(&error_advice::describe_error(&error)),
        TurnOutcome::OutputFailed(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        TurnOutcome::OutputFailed(error) => return Err(CliError::from_error(&error)),
    }
    Ok(false)
}

fn print_event(
    event: &ChatEvent,
    format: OutputFormat,
    screen: &mut EventPrinter,
) -> io::Result<()> {
    match format {
        OutputFormat::Text => screen.print_event(event),
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
