//! Runs one turn and passes its events to a printer.

use std::io;

use toolwright_chat::{ChatError, ChatEvent, TurnEnd, TurnRequest};

use super::error_advice;
use super::event_printer::EventPrinter;

pub(crate) enum TurnOutcome {
    Ended(TurnEnd),
    Failed(ChatError),
    /// An event could not be printed, so the turn was dropped.
    OutputFailed(io::Error),
}

/// Runs a turn; `show` gets each event.
pub(crate) async fn run_turn(
    request: TurnRequest,
    show: &mut dyn FnMut(&ChatEvent) -> io::Result<()>,
) -> TurnOutcome {
    let mut events = request.stream();
    let mut ended = None;
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                if let ChatEvent::TurnEnded { end, .. } = &event {
                    ended = Some(end.clone());
                }
                if let Err(error) = show(&event) {
                    return TurnOutcome::OutputFailed(error);
                }
            }
            Err(error) => return TurnOutcome::Failed(error),
        }
    }
    match ended {
        Some(end) => TurnOutcome::Ended(end),
        None => TurnOutcome::Failed(ChatError::TurnPaused {
            waiting: "for a decision that nobody here can make".to_owned(),
        }),
    }
}

/// Prints why a turn has no complete answer; a failed output is left to the caller.
pub(crate) fn print_outcome(outcome: &TurnOutcome, printer: &mut EventPrinter) {
    match outcome {
        TurnOutcome::Ended(TurnEnd::Cancelled) => printer.print_note("cancelled"),
        TurnOutcome::Ended(TurnEnd::Length) => printer
            .print_error("the answer is cut off: the model reached the most tokens of an answer"),
        TurnOutcome::Failed(error) => printer.print_error(&error_advice::describe_error(error)),
        TurnOutcome::Ended(_) | TurnOutcome::OutputFailed(_) => {}
    }
}
