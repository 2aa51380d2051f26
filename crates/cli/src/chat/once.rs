//! `chat --once`: one question in, its answer out.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;
use tokio::runtime::Runtime;
use toolwright_chat::{Chat, ChatError, ChatEvent, TurnEnd};

use super::interrupt::{INTERRUPTED, Interrupts};
use super::resume::{self, Standing};
use super::screen::Screen;
use super::setup::Setup;
use super::trouble;
use super::turn::{Over, play};
use crate::approve::Stdin;
use crate::clean;
use crate::failure::Failure;
use crate::model::Chosen;

/// How much is read from stdin before it is certainly too much.
const MOST_STDIN: u64 = 16 << 20;

/// What is printed on stdout.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    /// The answer.
    Text,
    /// Everything that happens, an object per line.
    Json {
        /// What goes over the wire to the model, too.
        wire: bool,
    },
}

/// The question as it was written, or from stdin.
pub(crate) fn question(written: &str) -> Result<String, Failure> {
    let mut question = written.to_owned();
    if written == "-" {
        question.clear();
        let read = io::stdin().take(MOST_STDIN).read_to_string(&mut question);
        read.map_err(|error| Failure::usage(format!("stdin: {error}")))?;
    }
    match question.trim() {
        "" => Err(Failure::usage("--once: the question is empty")),
        asked => Ok(asked.to_owned()),
    }
}

/// Asks it.
pub(crate) fn execute(
    setup: &Setup,
    chosen: &Chosen,
    question: String,
    format: Format,
    interrupts: &Interrupts,
    runtime: &Runtime,
) -> Result<ExitCode, Failure> {
    let mut screen = Screen::new();
    let chat = setup.chat(&chosen.model, Arc::new(Stdin));
    screen.begin(chosen, setup, &chat);
    if setup.store.keeps() && finish(setup, &chat, format, interrupts, runtime)? {
        screen.note("cancelled");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let ask = chat.message().conversation(&setup.conversation);
    let ask = ask.user(question).cancel_on(interrupts.begin());
    let mut show = |event: &ChatEvent| shown(event, format, &mut screen);
    let over = runtime.block_on(play(ask, &mut show));
    match over {
        Over::Ended(TurnEnd::Cancelled) => {
            screen.note("cancelled");
            Ok(ExitCode::from(INTERRUPTED))
        }
        Over::Ended(TurnEnd::Length) => {
            screen.error("the answer is cut off: the model reached the most tokens of an answer");
            Ok(ExitCode::FAILURE)
        }
        Over::Ended(_) => Ok(ExitCode::SUCCESS),
        Over::Failed(error) => {
            let told = !matches!(error, ChatError::Ended { .. });
            if let (Format::Json { .. }, true) = (format, told) {
                let message = Failure::finding(&error).message();
                let kind = trouble::kind(&error);
                // Whoever read it may have gone; the exit code says it too.
                let _ = line(&json!({ "type": "error", "message": message, "kind": kind }));
            }
            screen.error(&trouble::told(&error));
            Ok(ExitCode::FAILURE)
        }
        Over::Unread(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Over::Unread(error) => Err(Failure::finding(&error)),
    }
}

/// Finishes the conversation's last turn if that was interrupted, aside from the answer; tells whether it was cancelled.
fn finish(
    setup: &Setup,
    chat: &Chat,
    format: Format,
    interrupts: &Interrupts,
    runtime: &Runtime,
) -> Result<bool, Failure> {
    let mut screen = Screen::aside();
    let mut busy = || screen.note("another process has this conversation: waiting for it");
    let standing = runtime.block_on(resume::take(setup, &setup.conversation, &mut busy));
    let standing = standing.map_err(|error| Failure::finding(&error))?;
    if !matches!(standing, Standing::Interrupted) {
        return Ok(false);
    }
    screen.note(resume::FINISHING);
    let ask = chat.resume(&setup.conversation);
    let ask = ask.cancel_on(interrupts.begin());
    let mut show = |event: &ChatEvent| shown(event, format, &mut screen);
    let over = runtime.block_on(play(ask, &mut show));
    match over {
        Over::Ended(TurnEnd::Cancelled) => return Ok(true),
        Over::Ended(_) => {}
        // The question is asked all the same: what is wrong now, its answer says.
        Over::Failed(error) => screen.error(&trouble::told(&error)),
        Over::Unread(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Over::Unread(error) => return Err(Failure::finding(&error)),
    }
    Ok(false)
}

fn shown(event: &ChatEvent, format: Format, screen: &mut Screen) -> io::Result<()> {
    match format {
        Format::Text => screen.show(event),
        Format::Json { wire: false } if matches!(event, ChatEvent::RequestSent { .. }) => Ok(()),
        Format::Json { .. } => line(event),
    }
}

fn line<T: serde::Serialize>(value: &T) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", clean::json(value))?;
    out.flush()
}
