//! A prompt in, what came of it out; everything between is shown as it happens.

use std::io;

use futures::stream::StreamExt as _;
use toolwright_chat::{ChatError, ChatEvent, TurnEnd, TurnRequest};

/// How a turn came to an end.
pub(crate) enum Over {
    Ended(TurnEnd),
    Failed(ChatError),
    /// What happens cannot be shown any more, so nothing more happens.
    Unread(io::Error),
}

/// Asks, and shows what happens.
pub(crate) async fn play(
    ask: TurnRequest,
    show: &mut dyn FnMut(&ChatEvent) -> io::Result<()>,
) -> Over {
    let mut events = ask.stream();
    let mut ended = None;
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                if let ChatEvent::TurnEnded { end, .. } = &event {
                    ended = Some(end.clone());
                }
                if let Err(error) = show(&event) {
                    return Over::Unread(error);
                }
            }
            Err(error) => return Over::Failed(error),
        }
    }
    match ended {
        Some(end) => Over::Ended(end),
        None => Over::Failed(ChatError::TurnPaused {
            waiting: "for a decision that nobody here can make".to_owned(),
        }),
    }
}
