//! A turn as a stream of what happens in it.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::BoxFuture;
use futures::stream::{Stream, StreamExt as _};

use crate::chat::event::ChatEvent;
use crate::chat::response::Response;
use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::turn::runner::run_turn;

/// Who hears what happens.
#[derive(Clone)]
pub(crate) struct EventSender(Option<UnboundedSender<ChatEvent>>);

impl EventSender {
    pub(crate) fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn emit(&self, event: ChatEvent) {
        if let Some(sender) = &self.0 {
            // Nobody listens any more: then nobody polls the turn either, and it is about to be dropped.
            let _ = sender.unbounded_send(event);
        }
    }
}

/// What happens in a turn, as it happens.
///
/// The turn runs while the stream is polled, so it never gets far ahead of whoever reads it.
///
/// # Cancellation
///
/// Dropping it cancels the turn.
pub struct ChatStream {
    events: UnboundedReceiver<ChatEvent>,
    turn: Option<BoxFuture<'static, Result<Response, ChatError>>>,
    /// How it ended; an error is told after everything that was told before it.
    ended: Option<Result<Response, ChatError>>,
}

impl ChatStream {
    pub(crate) fn new(ask: TurnRequest) -> Self {
        let (sender, events) = unbounded();
        Self {
            events,
            turn: Some(Box::pin(run_turn(ask, EventSender(Some(sender))))),
            ended: None,
        }
    }

    /// Reads to the end, and returns the response.
    ///
    /// # Errors
    ///
    /// As [`Ask::call`].
    pub async fn finish(mut self) -> Result<Response, ChatError> {
        while let Some(event) = self.next().await {
            event?;
        }
        self.into_response().ok_or(ChatError::StreamEnded)
    }

    /// Returns the response, once the stream has ended without an error.
    pub fn into_response(self) -> Option<Response> {
        self.ended.and_then(Result::ok)
    }
}

impl Stream for ChatStream {
    type Item = Result<ChatEvent, ChatError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Poll::Ready(Some(event)) = this.events.poll_next_unpin(cx) {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(turn) = &mut this.turn else {
                return Poll::Ready(match this.ended.take() {
                    Some(Err(error)) => Some(Err(error)),
                    ended => {
                        this.ended = ended;
                        None
                    }
                });
            };
            match turn.as_mut().poll(cx) {
                Poll::Ready(ended) => (this.turn, this.ended) = (None, Some(ended)),
                Poll::Pending => {
                    return match this.events.poll_next_unpin(cx) {
                        Poll::Ready(Some(event)) => Poll::Ready(Some(Ok(event))),
                        _ => Poll::Pending,
                    };
                }
            }
        }
    }
}
