//! [`ChatStream`]: a turn as a stream of its events.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::{Stream, StreamExt as _};
use futures_channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

use crate::chat::event::ChatEvent;
use crate::chat::response::Response;
use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::turn::runner::run_turn;

/// Sends the events of a turn to its [`ChatStream`], if there is one.
#[derive(Clone)]
pub(crate) struct EventSender(Option<UnboundedSender<ChatEvent>>);

impl EventSender {
    pub(crate) fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn emit(&self, event: ChatEvent) {
        if let Some(sender) = &self.0 {
            // Without a receiver the turn is not polled either, and is about to be dropped.
            let _ = sender.unbounded_send(event);
        }
    }
}

/// The events of a turn.
///
/// The turn runs while the stream is polled, so it never gets far ahead of its reader.
///
/// # Cancellation
///
/// Dropping the stream cancels the turn.
pub struct ChatStream {
    events: UnboundedReceiver<ChatEvent>,
    turn: Option<BoxFuture<'static, Result<Response, ChatError>>>,
    /// The outcome of the turn; an error follows all events that were emitted before it.
    ended: Option<Result<Response, ChatError>>,
}

impl TurnRequest {
    /// Runs the turn as the stream of its events is read.
    pub fn stream(self) -> ChatStream {
        let (sender, events) = unbounded();
        let turn = Box::pin(run_turn(self, EventSender(Some(sender))));
        ChatStream { events, turn: Some(turn), ended: None }
    }
}

impl ChatStream {
    /// Returns the next piece of the answer's text, and skips all other events; `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`TurnRequest::call`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolwright::chat::Chat;
    /// use toolwright::testing::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let chat = Chat::discover(ScriptedModel::new().replies("Hello there."))?;
    /// let mut answer = chat.message().user("Hi!").stream();
    /// while let Some(text) = answer.next_text().await? {
    ///     print!("{text}");
    /// }
    /// assert_eq!(answer.into_response().unwrap().text(), "Hello there.");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn next_text(&mut self) -> Result<Option<String>, ChatError> {
        while let Some(event) = self.next().await {
            if let ChatEvent::Text { delta } = event? {
                return Ok(Some(delta));
            }
        }
        Ok(None)
    }

    /// Reads to the end, and returns the response.
    ///
    /// # Errors
    ///
    /// As [`TurnRequest::call`].
    pub async fn finish(mut self) -> Result<Response, ChatError> {
        while let Some(event) = self.next().await {
            event?;
        }
        self.into_response().ok_or(ChatError::StreamEnded)
    }

    /// Returns the response; `None` unless the stream has been read to its end without an error.
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
