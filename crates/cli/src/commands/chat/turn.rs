//! A prompt in, what came of it out; everything between is shown as it happens.

use std::io;

use futures::stream::StreamExt as _;
use toolwright_chat::{ChatError, ChatEvent, TurnEnd, TurnRequest};

/// How a turn came to an end.
pub(crate) enum TurnOutcome {
    Ended(TurnEnd),
    Failed(ChatError),
    /// What happens cannot be shown any more, so nothing more happens.
    OutputFailed(io::Error),
}

/// Asks, and shows what happens.
pub(crate) async fn run_turn(
    ask: TurnRequest,
    show: &mut dyn FnMut(&ChatEvent) -> io::Result<()>,
) -> TurnOutcome {
    let mut events = ask.stream();
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
