//! [`ChatStream`]: a turn as a stream of its events.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::future::BoxFuture;
use futures::stream::{Stream, StreamExt};

use crate::chat::event::ChatEvent;
use crate::chat::response::Response;
use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::turn::runner::run_turn;

/// Sends the events of a turn to its [`ChatStream`], if there is one.
#[derive(Clone)]
pub(crate) struct EventSender(Option<Arc<Mutex<EventQueue>>>);

/// The events that were emitted and not read yet: few, because the turn runs only while its events are read.
#[derive(Default)]
struct EventQueue {
    events: VecDeque<ChatEvent>,
    /// Of the task that waits for an event: tools may emit some from other tasks.
    waker: Option<Waker>,
}

/// A larger buffer, after a burst of events, is not kept.
const MAX_KEPT_EVENTS: usize = 16;

impl EventSender {
    pub(crate) fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn emit(&self, event: ChatEvent) {
        if let Some(queue) = &self.0 {
            let mut queue = lock(queue);
            queue.events.push_back(event);
            let waker = queue.waker.take();
            drop(queue);
            if let Some(waker) = waker {
                waker.wake();
            }
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
    /// Events that were taken from the queue, all at once.
    ready: VecDeque<ChatEvent>,
    queue: Arc<Mutex<EventQueue>>,
    turn: Option<BoxFuture<'static, Result<Response, ChatError>>>,
    /// The outcome of the turn; an error follows all events that were emitted before it.
    ended: Option<Result<Response, ChatError>>,
}

impl TurnRequest {
    /// Runs the turn as the stream of its events is read.
    pub fn stream(self) -> ChatStream {
        let queue = Arc::new(Mutex::new(EventQueue::default()));
        let turn = Box::pin(run_turn(Box::new(self), EventSender(Some(Arc::clone(&queue)))));
        ChatStream { ready: VecDeque::new(), queue, turn: Some(turn), ended: None }
    }
}

fn lock(queue: &Mutex<EventQueue>) -> MutexGuard<'_, EventQueue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChatStream {
    /// Returns the next event; `None` at the end.
    ///
    /// The same as `StreamExt::next` of the crate `futures`, for programs without it.
    ///
    /// # Errors
    ///
    /// As [`TurnRequest::call`]; after an error the stream is at its end.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no event.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolwright::chat::{Chat, ChatEvent};
    /// use toolwright::testing::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let chat = Chat::discover(ScriptedModel::new().replies("Hello there."))?;
    /// let mut events = chat.message().user("Hi!").stream();
    /// while let Some(event) = events.next().await {
    ///     if let ChatEvent::Text { delta } = event? {
    ///         print!("{delta}");
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn next(&mut self) -> Option<Result<ChatEvent, ChatError>> {
        StreamExt::next(self).await
    }

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

    /// Takes the next event that was emitted; without one, the task is woken by the next if it waits.
    fn take_event(&mut self, waiting: Option<&Context<'_>>) -> Option<ChatEvent> {
        if self.ready.is_empty() {
            if self.ready.capacity() > MAX_KEPT_EVENTS {
                self.ready = VecDeque::new();
            }
            let mut queue = lock(&self.queue);
            std::mem::swap(&mut self.ready, &mut queue.events);
            if self.ready.is_empty() {
                queue.waker = waiting.map(|cx| cx.waker().clone());
            }
        }
        self.ready.pop_front()
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
            if let Some(event) = this.take_event(None) {
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
                    return match this.take_event(Some(cx)) {
                        Some(event) => Poll::Ready(Some(Ok(event))),
                        None => Poll::Pending,
                    };
                }
            }
        }
    }
}
